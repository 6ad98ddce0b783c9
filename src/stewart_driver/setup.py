# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Install stewart_driver."""

from glob import glob

from setuptools import find_packages, setup

PACKAGE = 'stewart_driver'

setup(
    name=PACKAGE,
    version='0.1.0',
    description='Drives and sensors of a Stewart platform: from setpoints to six legs, safely.',
    license='Apache-2.0',
    maintainer='The Stewart Authors',
    maintainer_email='maintainers@example.org',
    packages=find_packages(exclude=['test']),
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
        (f'share/{PACKAGE}/drives', glob('drives/*.yaml')),
    ],
    python_requires='>=3.10',
    install_requires=['setuptools'],
    extras_require={'test': ['pytest']},
    entry_points={
        'console_scripts': [
            'driver = stewart_node_support.executable:main',
            'imu = stewart_node_support.executable:main',
            'position_sensors = stewart_node_support.executable:main',
        ],
        'stewart.daq_cards': ['comedi = stewart_driver.daq.comedi_card:CARD'],
        'stewart.driver_backends': [
            'daq = stewart_driver.daq.backend:DaqBackend',
            'ethercat = stewart_driver.ethercat.backend:EthercatBackend',
            'ros2_control = stewart_driver.nodes.ros2_control:Ros2ControlBackend',
        ],
        'stewart.nodes': [
            'driver = stewart_driver.nodes.driver:Driver',
            'imu = stewart_driver.nodes.imu:Imu',
            'position_sensors = stewart_driver.nodes.position_sensors:PositionSensors',
        ],
        'stewart.verbs': [
            'calibrate-daq = stewart_driver.verbs.calibrate_daq',
            'calibrate-drives = stewart_driver.verbs.calibrate_drives',
            'drives = stewart_driver.verbs.drives',
        ],
    },
    zip_safe=False,
)
