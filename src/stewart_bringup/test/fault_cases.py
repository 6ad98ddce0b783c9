# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""What is broken, and what has to come of it: the fault matrix as data, fixed before any run.

Rigs are the shipped configurations on virtual rigs. Times count from the instant just before the
fault is asked for to the stamp of the message that tells of it; movement is that of the platform
joint that moves furthest, from that instant until the platform is at rest.
"""

from __future__ import annotations

from dataclasses import replace

from fault_case import Act, act, ANSWER, BUS, Case, COMMANDS, EX800, GONE, IMU, SILENCE

# Once a second, and the second in which it happens.
REPORT = 2.2
# The configuration's patience of 0.3 s, then the stop of drives that nobody commands.
MUTE, MUTE_WAY = 0.6, 0.06
# `stall_timeout`, and the next look of the node.
STALL = 3.0
# The share of missed cycles is that of a second, half of which has to be missed.
SLOW = 1.6
# A drive tells in the next cycle; lost ones are looked for every 50 ms.
TOLD, LOST = 0.15, 0.25
# At 63 mm/s along the legs: the way until it is told, a common stop, and what one leg of six may
# do on its own until its brake has it.
WAY, LEG_WAY = 0.02, 0.04
# Nobody commands the drives: without voltage all legs come down until the driver tells, and then.
DROP = 0.15
# Where the motion goes on.
ON_PATH = 0.001

MENDED = (act('ethercat.mend'),)
SLAVES = range(1, 7)


def tripped(name: str, says: str, *acts: Act, repair: tuple[Act, ...] = ()) -> Case:
    """Return a case of a drive that loses its voltage, after which all others do."""
    return Case(name, acts, says, *('FAULT', TOLD, LEG_WAY), repair=repair, sinks=True, askew=True)


def reported(leg: int, code: int) -> str:
    """Return the pattern of a drive's fault."""
    return rf'^drive of leg {leg} reports fault 0x{code:04X}'


WIRE = (
    Case(
        'one frame lost',
        (act('ethercat.lose_next', count=1),),
        r'frames bad or lost in the last second',
        *('ENABLED', REPORT, ON_PATH, BUS),
    ),
    Case(
        'frames lost on the way back, 40 ms',
        (act('ethercat.lose_next', count=2, way='back'),),
        r'frames bad or lost in the last second',
        *('ENABLED', REPORT, ON_PATH, BUS),
    ),
    Case(
        'one frame in fifty lost at random',
        (act('ethercat.lose_some', probability=0.02),),
        r'frames bad or lost in the last second',
        *('ENABLED', REPORT, ON_PATH, BUS),
        repair=(act('ethercat.lose_some', probability=0.0),),
    ),
    Case(
        'every frame lost',
        (act('ethercat.lose_next', count=1_000_000),),
        r'no frame has come back on ecat0 for \d+ ms',
        *('FAULT', MUTE, WAY),
        repair=(act('ethercat.lose_next', count=0),),
        before_repair='no slave answers on ecat0',
    ),
    Case(
        'frames delayed by 5 ms, two cycles',
        (act('ethercat.delay', seconds=0.005),),
        # Every second SYNC0 finds no new outputs.
        r'^leg 1: its drive is lost, EtherCAT: SAFEOP with error 0x001A \(Synchronization',
        *('FAULT', SLOW, WAY),
        repair=(act('ethercat.delay', seconds=0.0),),
    ),
    Case(
        'frames delayed by 50 ms, more than receive_timeout',
        (act('ethercat.delay', seconds=0.05),),
        r'no frame has come back on ecat0',
        *('FAULT', MUTE, WAY),
        repair=(act('ethercat.delay', seconds=0.0),),
    ),
    *(
        Case(
            f'cable cut between drives {after} and {after + 1}',
            (act('ethercat.cut', after=after),),
            rf'^leg {after + 1}: its drive is lost, EtherCAT: does not answer',
            *('FAULT', LOST, LEG_WAY),
            repair=MENDED,
            before_repair='mend that and reset',
        )
        for after in (1, 3, 5)
    ),
    Case(
        'cable cut in front of drive 1',
        (act('ethercat.cut', after=0),),
        r'no frame has come back on ecat0',
        *('FAULT', MUTE, WAY),
        repair=MENDED,
        before_repair='no slave answers on ecat0',
    ),
    *(
        Case(
            f'{service} with the cable cut between drives 5 and 6',
            (act('ethercat.cut', after=5), act('do.await_fault'), act('do.call', service=service)),
            r'^leg 6 does not hear the driver: it may hold by itself while the others go off',
            # Leg 6 holds, and the platform hangs on it.
            *('FAULT', LOST + TOLD, LEG_WAY, ANSWER),
            repair=MENDED,
            sinks=True,
            askew=True,
        )
        for service in ('disable', 'quick_stop')
    ),
)

SLAVE = (
    Case(
        'supply of drive 2 gone',
        (act('ethercat.power_off', slave=2),),
        r'^leg 2: its drive is lost',
        *('FAULT', LOST, LEG_WAY),
        repair=(act('ethercat.power_on', slave=2),),
        # It looks like a pulled cable, as does another drive: the others hold, and the platform
        # tilts over the leg.
        before_repair='mend that and reset|1 slaves answer on ecat0',
        askew=True,
        wrecks=True,
    ),
    Case(
        'supply of drive 2 interrupted',
        (act('ethercat.power_cycle', slave=2),),
        r'^leg 2: its drive is lost, EtherCAT: ',
        *('FAULT', LOST, LEG_WAY),
        sinks=True,
        askew=True,
    ),
    Case(
        'another drive in the place of drive 3',
        (act('ethercat.identity', slave=3),),
        r'^leg 3: its drive is lost, EtherCAT: ',
        *('FAULT', LOST, LEG_WAY),
        repair=(act('ethercat.identity', slave=3, product=0xB0),),
        before_repair='mend that and reset',
        askew=True,
        wrecks=True,
    ),
    Case(
        'a drive with read-only maps in the place of drive 6',
        (act('ethercat.read_only_maps', slave=6),),
        r'^leg 6: its drive is lost, EtherCAT: ',
        *('FAULT', LOST, LEG_WAY),
        # Its leg has moved since it was seen last.
        after_repair=r'^fault reset, the drives are off; leg 6 stands .*refuses object 1600h',
        sinks=True,
        askew=True,
    ),
    Case(
        'EEPROM of drive 1 spoilt',
        (act('ethercat.sii_checksum', slave=1),),
        r'^leg 1: its drive is lost, EtherCAT: ',
        *('FAULT', LOST, LEG_WAY),
        repair=(act('ethercat.identity', slave=1, product=0xB0),),
        # Before it is mended the bus waits for its EEPROM for longer than a node for its answer.
        sinks=True,
        askew=True,
    ),
    Case(
        'AL error 0x1A on drive 4',
        (act('ethercat.al_error', slave=4, code=0x1A),),
        r'^leg 4: its drive is lost, EtherCAT: SAFEOP with error 0x001A \(Synchronization',
        *('FAULT', LOST, LEG_WAY),
    ),
    Case(
        'drive 4: over-current, with an emergency',
        (act('ethercat.drive_fault', slave=4),),
        r'^drive of leg 4 reports fault 0x2310: continuous over.*emergency',
        *('FAULT', TOLD, LEG_WAY),
        sinks=True,
        askew=True,
    ),
    Case(
        'process-data watchdog of drive 5',
        (act('ethercat.watchdog', slave=5),),
        r'^leg 5: its drive is lost, EtherCAT: SAFEOP with error 0x001B',
        *('FAULT', LOST, LEG_WAY),
    ),
    Case(
        'safe torque off of drive 4',
        (act('ethercat.sto', slave=4),),
        r'^leg 4: .*(STO|torque)',
        *('FAULT', TOLD, LEG_WAY),
        repair=(act('ethercat.sto', slave=4, active=False),),
        sinks=True,
        askew=True,
    ),
    Case(
        'main circuit of drive 2 gone',
        (act('ethercat.mains', slave=2, on=False),),
        r'^drive of leg 2 reports fault 0x3220',
        *('FAULT', TOLD, LEG_WAY),
        repair=(act('ethercat.mains', slave=2, on=True),),
        sinks=True,
        askew=True,
    ),
    Case(
        'drive 5 under local control',
        (act('ethercat.local', slave=5),),
        r'^leg 5: its drive has left operation by itself, statusword 0x0050',
        *('FAULT', TOLD, LEG_WAY),
        repair=(act('ethercat.local', slave=5, on=False),),
        sinks=True,
        askew=True,
    ),
    Case(
        'encoder of drive 3 forgets its turns',
        (act('ethercat.lose_turns', slave=3),),
        r'^the measured stroke of leg 3 jumped by [\d.]+ mm in [\d.]+ ms',
        *('FAULT', TOLD, 0.06),
        sinks=True,
        wrecks=True,
    ),
    Case(
        'drives 1 and 2 exchanged on the cable',
        (act('ethercat.swap', one=1, other=2),),
        r'^leg [12]: its drive is lost, EtherCAT: ',
        *('FAULT', LOST, LEG_WAY),
        repair=(act('ethercat.swap', one=1, other=2),),
        sinks=True,
        askew=True,
    ),
    Case(
        'a drive without object 60C2h in the place of drive 6',
        (act('ethercat.variant', slave=6, absent=[0x60C2]),),
        r'^leg 6: its drive is lost, EtherCAT: ',
        *('FAULT', LOST, LEG_WAY),
        sinks=True,
        askew=True,
    ),
    Case(
        'clock of the reference drive drifts by 500 ppm',
        (act('ethercat.drift', slave=1, ppm=500.0),),
        '',
        *('ENABLED', REPORT, ON_PATH),
        repair=(act('ethercat.drift', slave=1, ppm=0.0),),
        why='no harm done: the other clocks and the cycle follow it',
    ),
    Case(
        'drive 3 answers requests 1 s late',
        (act('ethercat.answer_late', slave=3, seconds=[1.0]),),
        '',
        *('ENABLED', REPORT, ON_PATH),
        why='no harm done: nothing is asked of it while it moves',
    ),
)

PLANT = (
    Case(
        'encoder of leg 3 jumps by 30 mm',
        (act('plant.encoder_jump', leg=3, metres=0.03),),
        r'^the measured stroke of leg 3 jumped by [\d.]+ mm in [\d.]+ ms',
        *('FAULT', TOLD, 0.06),
        repair=(act('plant.mend'),),
        sinks=True,
    ),
    Case(
        'encoder of leg 3 jumps by 0.5 mm',
        (act('plant.encoder_jump', leg=3, metres=0.0005),),
        '',
        *('ENABLED', REPORT, ON_PATH),
        repair=(act('plant.mend'),),
        why='no sensor contradicts it: less than a leg can move in a cycle',
    ),
    Case(
        'encoder of leg 2 stuck',
        (act('plant.encoder_stuck', leg=2),),
        r'^leg 2: its encoder ',
        *('FAULT', TOLD, LEG_WAY),
        repair=(act('plant.mend'),),
        sinks=True,
        askew=True,
        wrecks=True,
    ),
    Case(
        'drive of leg 1 without force',
        (act('plant.torque_limit', leg=1, share=0.0),),
        r'leg 1 (is [\d.]+ mm from its command|reports fault 0x8611: following error too large)',
        # Until its own drive finds 20 mm too much; a joint moves further than its leg.
        *('FAULT', 0.5, 0.08),
        repair=(act('plant.mend'),),
        sinks=True,
        askew=True,
    ),
)
UNPLUGGED = 'no data: .*(unplugged|is the sensor plugged in)'
# A silence of 1.5 s, or a report of a second, and the second in which it begins.
QUIET = 3.2


def sensor(name: str, fault: Act, says: str, within: float = QUIET, *repair: Act) -> Case:
    """Return a case of the sensor: the platform is held, and stays."""
    return Case(name, (fault,), says, 'ENABLED', within, ON_PATH, IMU, moving=False, repair=repair)


DISTURBED = r'the line is disturbed: \d+ (times bytes were lost|bytes belonged to no frame)'
SENSOR = (
    sensor('serial garbage', act('imu.garbage', count=3000), DISTURBED),
    sensor('serial bytes lost', act('imu.lose', count=300), rf'samples? never came|{DISTURBED}'),
    sensor(
        'serial frames with a wrong checksum',
        act('imu.checksum', count=60),
        r'the line is disturbed: \d+ (times bytes were lost|frames had a wrong sum)',
    ),
    sensor(
        'one bit in a hundred bytes flips',
        act('imu.noise', probability=0.01),
        DISTURBED,
        QUIET,
        act('imu.noise', probability=0.0),
    ),
    sensor(
        'sensor changes its baud rate',
        act('imu.baud', baud=9600),
        r'no data: (\d+ bytes but no frame|no frame for 1\.5 s) at 115200 baud',
    ),
    sensor('sensor unplugged', act('imu.unplug'), UNPLUGGED, QUIET, act('imu.plug')),
    sensor(
        'sensor lowers its rate to 50 Hz silently',
        act('imu.rate', hertz=50.0),
        r'the sensor sends at 5\d\.\d Hz, not at 200',
        # The clock that follows the sensor's needs time to believe it.
        8.2,
        act('imu.rate', hertz=0.0),
    ),
    sensor('sensor silent', act('imu.silence'), 'no data: ', QUIET, act('imu.silence', on=False)),
    sensor(
        'sensor frozen',
        act('imu.freeze'),
        r'\d+ of \d+ samples repeat the one before',
        QUIET,
        act('imu.freeze', on=False),
    ),
)

CARD = (
    *(
        Case(
            f'input of leg 2 at the {end} end of its range',
            (act('card.saturate', leg=2, end=end),),
            r'position sensor of leg 2',
            *('FAULT', TOLD, WAY),
            rig=EX800,
            repair=(act('card.mend'),),
        )
        for end in ('high', 'low')
    ),
    Case(
        'input of leg 3 stuck',
        (act('card.stick', leg=3),),
        r'position sensor of leg 3.*stays within',
        *('FAULT', 0.6, LEG_WAY),
        rig=EX800,
        before_repair=r'the sensor of leg 3 says',
        repair=(act('card.mend'),),
    ),
    Case(
        'noise of 0.5 V on the input of leg 4',
        (act('card.disturb', leg=4, volts=0.5),),
        r'the measured stroke of leg 4 jumped by|leg 4 is [\d.]+ mm from its command',
        *('FAULT', TOLD, LEG_WAY),
        rig=EX800,
        repair=(act('card.mend'),),
    ),
    Case(
        'card gone',
        (act('card.remove'),),
        r'analogue card',
        *('FAULT', TOLD, MUTE_WAY),
        rig=EX800,
        repair=(act('card.mend'),),
        before_repair='analogue card',
    ),
    Case(
        'card answers after 0.6 s',
        (act('card.slow', seconds=0.6),),
        r'analogue card',
        *('FAULT', 2.5, MUTE_WAY),
        rig=EX800,
        repair=(act('card.mend'),),
        sinks=True,
    ),
    Case(
        'amplifier of leg 1 without force',
        (act('plant.torque_limit', leg=1, share=0.0),),
        r'leg 1 is [\d.]+ mm from its command|position sensor of leg 1.*stays within',
        *('FAULT', 0.3, DROP),
        rig=EX800,
        repair=(act('plant.mend'),),
        sinks=True,
    ),
    Case(
        'safe torque off of the motor of leg 1',
        (act('plant.sto', leg=1),),
        r'leg 1 is [\d.]+ mm from its command|position sensor of leg 1.*stays within',
        *('FAULT', 0.3, DROP),
        rig=EX800,
        repair=(act('plant.mend'),),
        sinks=True,
    ),
)

PROCESS = (
    Case(
        'kill -9 of the cyclic process, drives',
        (act('do.kill_cycle'),),
        r'was killed by signal 9',
        *('FAULT', TOLD, MUTE_WAY),
        # Its drives hold the legs; the next start takes the voltage, and they fall.
        wrecks=True,
    ),
    Case(
        'kill -9 of the driver node, drives',
        (act('do.kill_node'),),
        r'^actuator_states is silent',
        *(GONE, 0.6, DROP, SILENCE),
        repair=(act('do.restart'),),
        sinks=True,
    ),
    Case(
        'kill -9 of the cyclic process, card',
        (act('do.kill_cycle'),),
        r'was killed by signal 9; the outputs of .* now stand at the present strokes, the .* off',
        *('FAULT', TOLD, WAY),
        rig=EX800,
        repair=(act('do.restart'),),
        sinks=True,
    ),
    Case(
        'kill -9 of the driver node, card',
        (act('do.kill_node'),),
        r'^actuator_states is silent',
        *(GONE, 0.6, DROP, SILENCE),
        rig=EX800,
        repair=(act('do.restart'),),
        sinks=True,
    ),
    Case(
        'cyclic process frozen for 0.6 s (SIGSTOP)',
        (act('do.freeze_cycle', seconds=0.6),),
        r'no frame|its drive is lost|% of the cycles of the last|no cycle has run',
        *('FAULT', 1.2, MUTE_WAY),
    ),
    Case(
        'cyclic process frozen for good (SIGSTOP), card',
        (act('do.hang_cycle'),),
        r'the cyclic process was killed; the outputs of .* now stand at the present strokes',
        *('FAULT', STALL, WAY),
        rig=EX800,
        repair=(act('do.restart'),),
        sinks=True,
    ),
)

SETPOINTS = (
    Case(
        'setpoints stop while moving',
        (act('do.silence'),),
        r'^no command in time while moving \(100 ms waited\)',
        *('ENABLED', 0.4, WAY),
    ),
    Case(
        'one setpoint is not a number',
        (act('do.not_a_number', count=1),),
        r'commands? refused in the last second: .*nan',
        *('ENABLED', REPORT, ON_PATH, COMMANDS),
    ),
    Case(
        'all setpoints are not a number',
        (act('do.not_a_number', count=1_000_000),),
        r'^no command in time while moving \(100 ms waited\)',
        *('ENABLED', 0.4, WAY),
    ),
    Case(
        'one setpoint is 20 mm off',
        (act('do.jump', metres=0.02),),
        r'commands? refused in the last second: ',
        *('ENABLED', REPORT, ON_PATH, COMMANDS),
    ),
    Case(
        'tracking error over its limit',
        (act('do.tracking_error', metres=0.05),),
        r'^the platform is 50\.00 mm from its setpoint, allowed are 30 mm',
        *('FAULT', TOLD, WAY),
    ),
    Case(
        'quick_stop while moving',
        (act('do.call', service='quick_stop'),),
        r'^quick stop asked for',
        *('DISABLED', TOLD, WAY),
        sinks=True,
    ),
    Case(
        'disable while moving',
        (act('do.call', service='disable'),),
        r'^disabling asked for',
        *('DISABLED', TOLD, WAY),
        sinks=True,
    ),
    Case(
        'node deactivated while moving',
        (act('do.deactivate'),),
        r'^disabling asked for',
        *('DISABLED', TOLD, WAY),
        repair=(act('do.activate'),),
        sinks=True,
    ),
)

TOGETHER = (
    tripped(
        'over-current of drives 2 and 5 at once',
        r'^drive of leg [25] reports fault 0x2310',
        act('ethercat.drive_fault', slave=2),
        act('ethercat.drive_fault', slave=5),
    ),
    tripped(
        'safe torque off of all drives',
        r'^leg \d: .*(STO|torque)',
        *(act('ethercat.sto', slave=slave) for slave in SLAVES),
        repair=tuple(act('ethercat.sto', slave=slave, active=False) for slave in SLAVES),
    ),
    tripped(
        'main circuit of all drives gone',
        r'^drive of leg \d reports fault 0x3220',
        *(act('ethercat.mains', slave=slave, on=False) for slave in SLAVES),
        repair=tuple(act('ethercat.mains', slave=slave, on=True) for slave in SLAVES),
    ),
    tripped(
        'drive 6: encoder error, with an emergency',
        reported(6, 0x7305),
        act('ethercat.drive_fault', slave=6, code=0x7305),
    ),
    tripped(
        'drive 1: too hot, with an emergency',
        reported(1, 0x4210),
        act('ethercat.drive_fault', slave=1, code=0x4210),
    ),
    tripped(
        'drive 3: over-voltage of the DC link, with an emergency',
        reported(3, 0x3210),
        act('ethercat.drive_fault', slave=3, code=0x3210),
    ),
    tripped(
        'drive 3 falls back to PREOP',
        r'^(leg 3: its drive is lost, EtherCAT: PREOP|drive of leg 3 reports fault)',
        act('ethercat.al_error', slave=3, code=0x11, state='PREOP'),
    ),
    Case(
        'one frame in five lost at random',
        (act('ethercat.lose_some', probability=0.2),),
        r'its drive is lost, EtherCAT: SAFEOP with error 0x001A',
        *('FAULT', SLOW, WAY),
        repair=(act('ethercat.lose_some', probability=0.0),),
    ),
    Case(
        'clock of drive 4 drifts by -500 ppm',
        (act('ethercat.drift', slave=4, ppm=-500.0),),
        '',
        *('ENABLED', REPORT, ON_PATH),
        repair=(act('ethercat.drift', slave=4, ppm=0.0),),
        why='no harm done: its clock is set after the first',
    ),
    Case(
        'encoder of leg 5 jumps by -30 mm',
        (act('plant.encoder_jump', leg=5, metres=-0.03),),
        r'^the measured stroke of leg 5 jumped by [\d.]+ mm in [\d.]+ ms',
        *('FAULT', TOLD, LEG_WAY),
        repair=(act('plant.mend'),),
        sinks=True,
    ),
    Case(
        'cyclic process frozen for 0.45 s (SIGSTOP)',
        (act('do.freeze_cycle', seconds=0.45),),
        r'^legs? \d.* (is|are) lost|its drive is lost',
        *('FAULT', 1.2, MUTE_WAY),
    ),
    Case(
        'inputs of legs 2 and 5 at the end of their range',
        (act('card.saturate', leg=2), act('card.saturate', leg=5)),
        r'position sensor of leg [25]',
        *('FAULT', TOLD, WAY),
        rig=EX800,
        repair=(act('card.mend'),),
    ),
    Case(
        'noise of 0.02 V on the input of leg 4',
        (act('card.disturb', leg=4, volts=0.02),),
        '',
        *('ENABLED', REPORT, ON_PATH),
        rig=EX800,
        repair=(act('card.mend'),),
        why='less than a leg can move in a cycle; the amplifiers have sensors of their own',
    ),
    Case(
        'card answers after 10 ms, two cycles and a half',
        (act('card.slow', seconds=0.01),),
        r'^no cycle has run for [\d.]+ s while moving: the path is given up',
        *('ENABLED', SLOW, DROP),
        rig=EX800,
        repair=(act('card.slow', seconds=0.0),),
    ),
    Case(
        'safe torque off of all motors',
        tuple(act('plant.sto', leg=leg) for leg in SLAVES),
        r'leg \d is [\d.]+ mm from its command|position sensor of leg \d.*stays within',
        *('FAULT', 0.3, DROP),
        rig=EX800,
        repair=(act('plant.mend'),),
        sinks=True,
    ),
)


def misuse(name: str, deed: Act, says: str, source: str) -> Case:
    """Return a case of an operator, or a program, that asks for what is refused."""
    return Case(name, (deed,), says, 'ENABLED', REPORT, ON_PATH, source)


MISUSE = (
    misuse('enabled while moving', act('do.call', service='enable'), 'not possible', ANSWER),
    misuse('homed while moving', act('do.call', service='home'), 'not possible', ANSWER),
    misuse('reset while moving', act('do.call', service='reset_fault'), 'not possible', ANSWER),
    misuse(
        'override with all legs inside',
        act('do.override'),
        'no leg is outside its stroke',
        ANSWER,
    ),
    misuse('jog while a path is played', act('do.jog', rate=0.01), 'only legs at rest', COMMANDS),
    misuse('jog that is not a number', act('do.jog', rate=float('nan')), 'are finite', COMMANDS),
    replace(
        misuse('jog at half the rate limit', act('do.jog', rate=0.25), 'a jog needs', COMMANDS),
        moving=False,
    ),
    Case(
        'setpoints stamped 5 s in the future',
        (act('do.shift_stamps', seconds=5.0),),
        r'^no command in time while moving \(100 ms waited\)',
        *('ENABLED', 0.4, WAY),
    ),
    Case(
        'tracking error that is not a number',
        (act('do.tracking_error', metres=float('nan')),),
        r'^the platform is nan mm from its setpoint',
        *('FAULT', TOLD, WAY),
    ),
    Case(
        'a second source of setpoints, 20 mm off',
        (act('do.contradict', metres=0.02),),
        r'two sources|contradict|another',
        *('FAULT', 0.4, WAY),
    ),
)

CASES: tuple[Case, ...] = (
    *(*WIRE, *SLAVE, *PLANT, *TOGETHER, *SENSOR, *CARD, *PROCESS, *SETPOINTS, *MISUSE),
)
