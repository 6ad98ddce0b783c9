# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Install stewart_kinematics."""

from setuptools import find_packages, setup

PACKAGE = 'stewart_kinematics'
NODES = {
    'cycloidal_trajectory': 'CycloidalTrajectory',
    'excitation_trajectory': 'ExcitationTrajectory',
    'forward_kinematics': 'ForwardKinematics',
    'inverse_kinematics': 'InverseKinematics',
    'ocean_trajectory': 'OceanTrajectory',
    'teleop': 'Teleop',
}

setup(
    name=PACKAGE,
    version='0.1.0',
    description='Kinematics, limits and trajectories of a Stewart platform.',
    license='Apache-2.0',
    maintainer='The Stewart Authors',
    maintainer_email='maintainers@example.org',
    packages=find_packages(exclude=['test']),
    package_data={PACKAGE: ['py.typed'], f'{PACKAGE}.trajectories': ['motions/*.yaml']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
    ],
    python_requires='>=3.10',
    # The oldest that `make test-compat` runs with; they hold for all that require this package.
    install_requires=[
        'matplotlib',
        'numba>=0.58',
        'numpy',
        'PyYAML',
        'scipy>=1.11',
        'stewart_description',
        'stewart_tables',
    ],
    extras_require={'mjcf': ['mujoco'], 'test': ['pytest']},
    zip_safe=False,
    entry_points={
        'console_scripts': [f'{name} = stewart_node_support.executable:main' for name in NODES],
        'stewart.verbs': [
            f'export = {PACKAGE}.verbs.export',
            f'fk = {PACKAGE}.verbs.fk',
            f'ik = {PACKAGE}.verbs.ik',
            f'platform = {PACKAGE}.verbs.platform',
            f'study = {PACKAGE}.verbs.study',
            f'trajectory = {PACKAGE}.verbs.trajectory',
            f'workspace = {PACKAGE}.verbs.workspace',
        ],
        'stewart.nodes': [f'{name} = {PACKAGE}.nodes.{name}:{cls}' for name, cls in NODES.items()],
    },
)
