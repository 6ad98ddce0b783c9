# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Install stewart_cueing."""

from setuptools import find_packages, setup

PACKAGE = 'stewart_cueing'
NODES = {'motion_cueing': 'MotionCueing', 'stabilisation': 'Stabilisation'}

setup(
    name=PACKAGE,
    version='0.1.0',
    description='Motion of a platform from what a vehicle does, or against what a ship does.',
    license='Apache-2.0',
    maintainer='The Stewart Authors',
    maintainer_email='maintainers@example.org',
    packages=find_packages(exclude=['test']),
    package_data={PACKAGE: ['py.typed']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
        (f'share/{PACKAGE}/config', ['config/flightgear.xml']),
    ],
    python_requires='>=3.10',
    install_requires=[
        'daqp',
        'matplotlib',
        'numpy',
        'scipy',
        'stewart_bags',
        'stewart_kinematics',
        'stewart_tables',
    ],
    extras_require={'test': ['pytest']},
    zip_safe=False,
    entry_points={
        'console_scripts': [f'{name} = stewart_node_support.executable:main' for name in NODES],
        'stewart.nodes': [f'{name} = {PACKAGE}.nodes.{name}:{cls}' for name, cls in NODES.items()],
        'stewart.verbs': [f'cue = {PACKAGE}.verbs.cue'],
    },
)
