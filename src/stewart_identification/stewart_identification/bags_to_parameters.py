# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""The whole way: read bags, identify, write ``parameters.yaml`` and ``report.html``."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from stewart_dynamics.inertia import ten_parameters
from stewart_identification.errors import ConfigurationError, StewartError, UnusableRecording
from stewart_identification.estimators.estimator import Progress
from stewart_identification.estimators.least_squares import LeastSquares
from stewart_identification.estimators.result import rms
from stewart_identification.experiment import Experiment
from stewart_identification.identify import identify, Options
from stewart_identification.outcome import Outcome
from stewart_identification.parameters_file import BEFORE, write_parameters
from stewart_identification.parameters_file import NAME as PARAMETERS
from stewart_identification.recording.from_bag import experiment_from, Extracted, Extraction
from stewart_identification.recording.recordings import read_recording
from stewart_identification.report import NAME as REPORT
from stewart_identification.report import write_report
from stewart_identification.wiring import miswired
from stewart_kinematics.model.platform import Platform, RigidBody
from stewart_kinematics.motion import Array
from stewart_kinematics.solvers.recognition import linear_platforms

Stage = Callable[[str], None]
BETTER = 0.5
"""Residual of the platform that a recording is of, in units of that of the described one."""
LIGHTEST = 0.1
"""Least mass that it may then have, in units of what is described: less is another unit."""


@dataclass(frozen=True, eq=False)
class Written:
    """What an identification left behind.

    Attributes:
        parameters: Platform file; None where the recording does not determine a body that can
            exist.
        aside: What an older platform file is called now, where there was one and there is no new
            one.
    """

    outcome: Outcome
    report: Path
    parameters: Path | None
    aside: Path | None

    def as_dict(self) -> dict[str, Any]:
        """Return plain values for JSON."""
        parameters = None if self.parameters is None else str(self.parameters)
        files = {'report': str(self.report), 'parameters': parameters}
        return {**self.outcome.as_dict(), 'files': files}


def identify_bags(
    bags: Sequence[str | Path],
    platform: str | Path,
    output: Path,
    *,
    options: Options | None = None,
    extraction: Extraction | None = None,
    estimate: Path | None = None,
    validation: str | Path | None = None,
    renamed: Mapping[str, str] | None = None,
    loaded: str | Path | None = None,
    load: Sequence[float] | None = None,
    truth: Mapping[str, float] | None = None,
    stage: Stage = lambda _: None,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Written:
    """Identify a platform from recordings and write what was found.

    Args:
        bags: Recordings with drive forces, of one platform; several count as one.
        platform: Its description, by name or path.
        output: Folder of ``report.html`` and ``parameters.yaml``; made if it is not there. Where
            none can be written, an older ``parameters.yaml`` becomes ``parameters.before.yaml``.
        estimate: Result of ``stewart estimate`` for the one bag: the motion is taken from there.
        validation: Another recording, whose forces the parameters shall predict.
        renamed: What our topics are called in the bags.
        loaded: A recording of the same machine with a known body bolted on; it counts with `bags`.
        load (4,): Mass of that body [kg] and its centre in ``platform_link`` [m], a small one: its
            inertia about its own centre counts as none.
        truth: True values by name (``m``, ``cx``, ..., ``payload m``), for the report.
        progress: Told after every iteration of the estimator; answers whether to go on.
        executor: Where the bags are read and differentiated; here, one after the other, if not
            given. The result is the same.

    Raises:
        BagError, UnusableRecording: If a bag cannot be read or used, or is given twice; says why.
        StewartError: If the platform cannot be used, or the parameters not be fitted.
        OSError: If a file cannot be read or written.
    """
    options, extraction = options or Options(), extraction or Extraction()
    described = Platform.from_yaml(platform)
    if (output / PARAMETERS).resolve() == Path(platform).resolve():
        expected = f'another folder: its {PARAMETERS} is the platform that is read'
        raise ConfigurationError('output', str(output), expected)
    read = partial(
        _read, platform=platform, extraction=extraction, estimate=estimate, renamed=renamed
    )
    body = None if load is None else _known_body(load)
    if loaded is not None:
        bags = [*bags, loaded]
    found = map(read, bags) if executor is None else executor.map(read, bags)
    extracted = _different(bags, found, stage)
    if body is not None:
        for k, bag in enumerate(bags):
            experiment = extracted[k].experiment.loaded(body if bag is loaded else np.zeros(10))
            extracted[k] = replace(extracted[k], experiment=experiment)
    other = None
    if validation is not None:
        stage(f'reading and differentiating {validation}')
        plain = replace(extraction, instruments=False)
        other = _read(validation, platform, plain, None, renamed)
        if other.sha256 in {item.sha256 for item in extracted}:
            raise UnusableRecording(f'{validation} was identified from, it validates nothing')
    stage('fitting')
    outcome = identify(extracted, described, options, validation=other, progress=progress)
    if outcome.doubtful:
        stage('looking for a platform that fits better')
        alone = partial(read, bags[0], estimate=None)
        ours = extracted[0].experiment
        told = _another(alone, ours, described, options)
        if not told:
            stage('looking for legs that are exchanged')
            recording = read_recording(bags[0], renamed)
            told = miswired(recording, described, options.friction, extraction)
        outcome = outcome.of_another(told)
    stage('writing')
    return _written(outcome, platform, output, truth)


def _different(
    bags: Sequence[str | Path], found: Iterator[Extracted], stage: Stage
) -> list[Extracted]:
    """Collect what was read of bags, each another recording."""
    extracted: list[Extracted] = []
    for bag in bags:
        stage(f'reading and differentiating {bag}')
        one = next(found)
        for other in extracted:
            if other.sha256 == one.sha256:
                raise UnusableRecording(f'{bag} is the recording {other.path}, it counts once')
        # What comes out of a pickle may be written to, and numba would compile anew for that.
        experiment = replace(one.experiment, inputs=replace(one.experiment.inputs))
        extracted.append(replace(one, experiment=experiment))
    return extracted


def _another(
    read: Callable[..., Extracted],
    experiment: Experiment,
    described: Platform,
    options: Options,
) -> str:
    """Say which described platform explains the forces of a recording better; empty if none."""

    def explained(platform: Platform, moved: Experiment) -> tuple[float, float]:
        """Return what a platform leaves of the forces [N], and the mass that it then has [kg]."""
        fit = LeastSquares().fit(options.model(platform), moved)
        return rms(fit.residuals), float(fit.parameters[0])

    found = {}
    for other in linear_platforms():
        if other.name != described.name and other.masses is not None:
            # Most of them cannot have made the recording.
            with suppress(StewartError, np.linalg.LinAlgError):
                moved = read(platform=other.name).experiment
                left, mass = explained(other, moved)
                if mass > LIGHTEST * other.masses.platform.mass:
                    found[other.name] = left, mass
    if not found:
        return ''
    best, (least, its_mass) = min(found.items(), key=lambda item: item[1][0])
    ours, mass = explained(described, experiment)
    if least > BETTER * ours:
        return ''
    return (
        f'the recording is of another platform than {described.name}: as {best} one body explains '
        f'the forces to {least:.3g} N and has {its_mass:.3g} kg, as {described.name} '
        f'to {ours:.3g} N and has {mass:.3g} kg'
    )


def _known_body(load: Sequence[float]) -> Array:
    """Return the ten parameters of a small body, shape (10,)."""
    mass, *place = load
    if not (np.all(np.isfinite(load)) and mass > 0.0):
        raise ConfigurationError('load', list(load), 'a mass above 0 kg and a finite place in m')
    return ten_parameters(RigidBody(mass, np.array(place), np.zeros((3, 3))))


def _read(
    bag: str | Path,
    platform: str | Path,
    extraction: Extraction,
    estimate: Path | None,
    renamed: Mapping[str, str] | None,
) -> Extracted:
    """Return the experiment of one bag."""
    recording, described = read_recording(bag, renamed), Platform.from_yaml(platform)
    return experiment_from(recording, described, extraction, estimate=estimate)


def _written(
    outcome: Outcome, platform: str | Path, output: Path, truth: Mapping[str, float] | None
) -> Written:
    """Write the report, and the platform file unless there is none; an older one steps aside."""
    output.mkdir(parents=True, exist_ok=True)
    parameters, report, aside = output / PARAMETERS, output / REPORT, None
    if outcome.body is not None:
        write_parameters(outcome, platform, parameters)
    elif parameters.exists():
        # It is not of this report.
        aside = parameters.replace(output / BEFORE)
    write_report(outcome, report, truth)
    return Written(outcome, report, None if outcome.body is None else parameters, aside)
