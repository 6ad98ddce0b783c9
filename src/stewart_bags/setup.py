# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Install stewart_bags."""

from setuptools import find_packages, setup

PACKAGE = 'stewart_bags'

setup(
    name=PACKAGE,
    version='0.1.0',
    description='Recording, reading and rescuing rosbag2 files without ROS.',
    license='Apache-2.0',
    maintainer='The Stewart Authors',
    maintainer_email='maintainers@example.org',
    packages=find_packages(exclude=['test']),
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
    ],
    python_requires='>=3.10',
    install_requires=['numpy', 'PyYAML', 'rosbags', 'stewart_description', 'stewart_tables'],
    extras_require={'test': ['pytest']},
    zip_safe=False,
    entry_points={
        'console_scripts': [
            'player = stewart_node_support.executable:main',
            'recorder = stewart_node_support.executable:main',
        ],
        'stewart.nodes': [
            'player = stewart_bags.nodes.player:Player',
            'recorder = stewart_bags.nodes.recorder:Recorder',
        ],
        'stewart.verbs': [
            'bag = stewart_bags.verbs.bag',
            'play = stewart_bags.verbs.play',
            'record = stewart_bags.verbs.record',
        ],
    },
)
