# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Install stewart_driver."""

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
    ],
    install_requires=['setuptools'],
    extras_require={'test': ['pytest']},
    entry_points={
        'console_scripts': [
            'driver = stewart_node_support.executable:main',
            'imu = stewart_node_support.executable:main',
        ],
        'stewart.nodes': [
            'driver = stewart_driver.nodes.driver:Driver',
            'imu = stewart_driver.nodes.imu:Imu',
        ],
    },
    zip_safe=False,
)
