# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Install stewart_node_support."""

from setuptools import find_packages, setup

PACKAGE = 'stewart_node_support'

setup(
    name=PACKAGE,
    version='0.1.0',
    description='What every node needs: parameters, conversions, diagnostics, running.',
    license='Apache-2.0',
    maintainer='The Stewart Authors',
    maintainer_email='maintainers@example.org',
    packages=find_packages(exclude=['test']),
    package_data={PACKAGE: ['*.xml']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
    ],
    python_requires='>=3.10',
    install_requires=['setuptools'],
    extras_require={'test': ['pytest']},
    zip_safe=False,
)
