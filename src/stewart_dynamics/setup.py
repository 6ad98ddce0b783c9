# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Install stewart_dynamics."""

from setuptools import find_packages, setup

PACKAGE = 'stewart_dynamics'

setup(
    name=PACKAGE,
    version='0.1.0',
    description='Inverse and forward dynamics of a Stewart platform',
    license='Apache-2.0',
    maintainer='The Stewart Authors',
    maintainer_email='maintainers@example.org',
    packages=find_packages(exclude=['test']),
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
    ],
    python_requires='>=3.10',
    install_requires=['numba', 'numpy', 'scipy', 'stewart_kinematics', 'stewart_tables'],
    extras_require={'test': ['pytest']},
    zip_safe=False,
    entry_points={
        'console_scripts': ['feed_forward = stewart_node_support.executable:main'],
        'stewart.verbs': [f'dynamics = {PACKAGE}.verbs.dynamics'],
        'stewart.nodes': [f'feed_forward = {PACKAGE}.nodes.feed_forward:FeedForwardNode'],
    },
)
