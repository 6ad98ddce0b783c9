# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Install stewart_simulation."""

from setuptools import find_packages, setup

PACKAGE = 'stewart_simulation'

setup(
    name=PACKAGE,
    version='0.1.0',
    description='The virtual rig: simulated drives and sensors, labelled as such.',
    license='Apache-2.0',
    maintainer='The Stewart Authors',
    maintainer_email='maintainers@example.org',
    packages=find_packages(exclude=['test']),
    package_data={f'{PACKAGE}.ethercat': ['README.md']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
    ],
    python_requires='>=3.10',
    install_requires=['setuptools'],
    extras_require={'test': ['pytest']},
    entry_points={
        'console_scripts': [
            'simulation_clock = stewart_node_support.executable:main',
            'virtual_rig = stewart_node_support.executable:main',
        ],
        'stewart.nodes': [
            'simulation_clock = stewart_simulation.nodes.simulation_clock:SimulationClock',
            'virtual_rig = stewart_simulation.nodes.virtual_rig:VirtualRig',
        ],
        'stewart.daq_cards': ['simulated = stewart_simulation.daq_card.library:CARD'],
        'stewart.driver_backends': [
            'simulated = stewart_simulation.simulated_backend:SimulatedBackend',
        ],
        'stewart.verbs': [
            'imu-emulator = stewart_simulation.verbs.imu_emulator',
            'virtual-rig = stewart_simulation.verbs.virtual_rig',
        ],
    },
    zip_safe=False,
)
