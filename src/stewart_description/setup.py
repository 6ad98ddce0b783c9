# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Install stewart_description."""

from glob import glob

from setuptools import find_packages, setup

PACKAGE = 'stewart_description'

setup(
    name=PACKAGE,
    version='0.1.0',
    description='What a Stewart platform is: YAML files, xacro model, RViz configuration.',
    license='Apache-2.0',
    maintainer='The Stewart Authors',
    maintainer_email='maintainers@example.org',
    packages=find_packages(exclude=['test']),
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
        (f'share/{PACKAGE}/platforms', glob('platforms/*.yaml')),
        (f'share/{PACKAGE}/rviz', glob('rviz/*.rviz')),
        (f'share/{PACKAGE}/urdf', glob('urdf/*.xacro')),
    ],
    python_requires='>=3.10',
    install_requires=['PyYAML', 'xacro'],
    extras_require={'test': ['pytest']},
    zip_safe=False,
)
