# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Install stewart_tables."""

from setuptools import find_packages, setup

PACKAGE = 'stewart_tables'

setup(
    name=PACKAGE,
    version='0.1.0',
    description='Tables of samples, files that are whole or not at all, progress.',
    license='Apache-2.0',
    maintainer='The Stewart Authors',
    maintainer_email='maintainers@example.org',
    packages=find_packages(exclude=['test']),
    package_data={PACKAGE: ['page.css']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
    ],
    python_requires='>=3.10',
    # The oldest that `make test-compat` runs with; they hold for all that require this package.
    install_requires=['matplotlib>=3.6', 'numpy>=1.26', 'rich', 'stewart_description'],
    extras_require={'test': ['pytest']},
    zip_safe=False,
)
