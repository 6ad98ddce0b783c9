# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Install stewart_estimation."""

from setuptools import find_packages, setup

PACKAGE = 'stewart_estimation'
NODES = {'state_estimator': 'StateEstimator'}

setup(
    name=PACKAGE,
    version='0.1.0',
    description='State estimation of a Stewart platform from an IMU and six leg lengths.',
    license='Apache-2.0',
    maintainer='The Stewart Authors',
    maintainer_email='maintainers@example.org',
    packages=find_packages(exclude=['test']),
    package_data={PACKAGE: ['*.html', 'py.typed']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
    ],
    python_requires='>=3.10',
    install_requires=[
        'matplotlib',
        'numba',
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
        'stewart.verbs': [
            f'consistency = {PACKAGE}.verbs.consistency',
            f'estimate = {PACKAGE}.verbs.estimate',
            f'imu-noise = {PACKAGE}.verbs.imu_noise',
        ],
        'stewart.nodes': [f'{name} = {PACKAGE}.nodes.{name}:{cls}' for name, cls in NODES.items()],
    },
)
