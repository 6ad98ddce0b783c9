# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Install stewart_viewer."""

from setuptools import find_packages, setup

PACKAGE = 'stewart_viewer'

setup(
    name=PACKAGE,
    version='0.1.0',
    description='The platform in a browser.',
    license='Apache-2.0',
    maintainer='The Stewart Authors',
    maintainer_email='maintainers@example.org',
    packages=find_packages(exclude=['test']),
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
    ],
    python_requires='>=3.10',
    install_requires=['setuptools'],
    extras_require={'test': ['pytest']},
    entry_points={
        'console_scripts': [
            'force_arrows = stewart_node_support.executable:main',
            'web_viewer = stewart_node_support.executable:main',
        ],
        'stewart.nodes': [
            'force_arrows = stewart_viewer.nodes.force_arrows:ForceArrows',
            'web_viewer = stewart_viewer.nodes.web_viewer:WebViewer',
        ],
        'stewart.verbs': ['view = stewart_viewer.verbs.view'],
    },
    zip_safe=False,
)
