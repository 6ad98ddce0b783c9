# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Install stewart_bringup."""

from glob import glob

from setuptools import find_packages, setup

PACKAGE = 'stewart_bringup'

setup(
    name=PACKAGE,
    version='0.1.0',
    description='How the suite is run: launch files, composition and the stewart command.',
    license='Apache-2.0',
    maintainer='The Stewart Authors',
    maintainer_email='maintainers@example.org',
    packages=find_packages(exclude=['test']),
    package_data={'stewart_bringup.demo': ['*.html']},
    data_files=[
        ('share/ament_index/resource_index/packages', [f'resource/{PACKAGE}']),
        (f'share/{PACKAGE}', ['package.xml']),
        (f'share/{PACKAGE}/config', glob('config/*')),
        (f'share/{PACKAGE}/hook', glob('hook/*')),
        (f'share/{PACKAGE}/launch', glob('launch/*.launch.py')),
    ],
    python_requires='>=3.10',
    install_requires=['setuptools'],
    extras_require={'test': ['pytest']},
    entry_points={
        'console_scripts': [
            'stewart = stewart_bringup.main:main',
            'wave_operator = stewart_bringup.operate:main',
        ],
        'stewart.verbs': [
            'demo = stewart_bringup.verbs.demo',
            'diagnostics = stewart_bringup.verbs.diagnostics',
            'drive = stewart_bringup.verbs.drive',
            'jog = stewart_bringup.verbs.jog',
            'move = stewart_bringup.verbs.move',
            'run = stewart_bringup.verbs.run',
            'sequence = stewart_bringup.verbs.sequence',
            'simulate = stewart_bringup.verbs.simulate',
            'teleop = stewart_bringup.verbs.teleop',
            'wave = stewart_bringup.verbs.wave',
        ],
    },
    zip_safe=False,
)
