# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Install stewart_identification."""

from setuptools import find_packages, setup

PACKAGE = 'stewart_identification'

setup(
    name=PACKAGE,
    version='0.1.0',
    description='Identification of inertial parameters from recordings.',
    license='Apache-2.0',
    maintainer='The Stewart Authors',
    maintainer_email='maintainers@example.org',
    packages=find_packages(exclude=['test']),
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
    ],
    python_requires='>=3.10',
    install_requires=[
        'matplotlib',
        'numpy',
        'pyswarms',
        'PyYAML',
        'scipy',
        'stewart_bags',
        'stewart_description',
        'stewart_dynamics',
        'stewart_kinematics',
        'stewart_tables',
    ],
    extras_require={'test': ['pytest'], 'dask': ['distributed']},
    zip_safe=False,
    entry_points={
        'console_scripts': ['identification = stewart_node_support.executable:main'],
        'stewart.nodes': [f'identification = {PACKAGE}.nodes.identification:IdentificationNode'],
        'stewart.verbs': [
            f'calibrate = {PACKAGE}.verbs.calibrate',
            f'excite = {PACKAGE}.verbs.excite',
            f'identify = {PACKAGE}.verbs.identify',
            f'import = {PACKAGE}.verbs.import_log',
        ],
    },
)
