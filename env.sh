# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
#
# Source this file: `. ./env.sh`. Then python, colcon, stewart and every node are at hand.
# bash and zsh find the clone from anywhere; other shells have to stand in it. It takes what make has
# set up, or what colcon has built with a ROS 2 that is installed.

if [ -n "${BASH_VERSION:-}" ]; then
    _stewart_shell=bash _stewart_file=${BASH_SOURCE[0]}
elif [ -n "${ZSH_VERSION:-}" ]; then
    _stewart_shell=zsh
    eval '_stewart_file=${(%):-%x}'
else
    _stewart_shell=sh _stewart_file=./env.sh
fi
_stewart_root=$(CDPATH='' cd -- "$(dirname -- "$_stewart_file")" && pwd -P)

# A clone that was moved is not set up: its environment still names the old place. Without one,
# what is installed was built by colcon with a ROS 2 of the machine, which its setup file names.
# Environments that were made before the first line named the place have the second one.
_stewart_setup=
if grep -qsxF -e "# $_stewart_root" -e "export VIRTUAL_ENV=$_stewart_root/.venv" \
    "$_stewart_root/.venv/environment.sh"; then
    _stewart_setup=local_setup
elif [ ! -e "$_stewart_root/.venv" ]; then
    _stewart_setup=setup
fi
if [ -f "$_stewart_root/install/${_stewart_setup:-none}.sh" ]; then
    # colcon's scripts read unset variables and let commands fail.
    _stewart_options=$-
    set +eu
    [ "$_stewart_setup" = setup ] || . "$_stewart_root/.venv/environment.sh"
    COLCON_CURRENT_PREFIX=$_stewart_root/install
    . "$_stewart_root/install/$_stewart_setup.$_stewart_shell"
    unset COLCON_CURRENT_PREFIX
    # Where `ros2 run` would look for the executables of a package; make installs no ros2.
    for _stewart_bin in "$_stewart_root"/install/*/lib/*/; do
        _stewart_bin=${_stewart_bin%/}
        case $_stewart_bin in
            */python3.*) ;;
            *) PATH=$_stewart_bin:$PATH ;;
        esac
    done
    # After a git pull, new messages, nodes and verbs are missing until make has built them.
    if [ "$_stewart_setup" = local_setup ] && [ -f "$_stewart_root/.venv/built.sha256" ] &&
        ! (cd "$_stewart_root" && sha256sum --check --status .venv/built.sha256) 2> /dev/null; then
        echo "$_stewart_root has changed since it was built: run make setup there." >&2
    fi
    case $_stewart_options in *e*) set -e ;; esac
    case $_stewart_options in *u*) set -u ;; esac
    unset _stewart_shell _stewart_file _stewart_root _stewart_setup _stewart_options _stewart_bin
else
    echo "Nothing is set up in $_stewart_root yet: run make there first." >&2
    unset _stewart_shell _stewart_file _stewart_root _stewart_setup
    return 1
fi
