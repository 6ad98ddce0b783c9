# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Poses from outside as a bag has them, and which of them can be used."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from stewart_bags.errors import BagError, DamagedBag
from stewart_bags.findings import Kind
from stewart_bags.reading import Bag
from stewart_bags.series import PoseSeries as RecordedPoses
from stewart_bags.series import PoseWithCovarianceSeries, read_series, Series
from stewart_bags.topics import Topic
from stewart_estimation.estimate import EstimateSeries
from stewart_estimation.external_pose import are_poses, NO_POSES, PoseSeries
from stewart_kinematics.motion import Array
from stewart_tables.progress import tell

LEG_TOPIC, POSE_TOPIC, TOLD_TOPIC = 'actuator_states', 'platform/external_pose', 'platform/pose'

BASE_FRAME = 'base_link'
"""The frame of the poses; one without a name is taken for it."""

Recorded = RecordedPoses | PoseWithCovarianceSeries


class Tracker(NamedTuple):
    """What a tracker or a camera said.

    Attributes:
        recorded: Messages, whether they can be used or not.
        series: They as they were recorded; None without any.
    """

    recorded: int = 0
    series: Recorded | None = None

    def poses(self, origin_ns: int) -> PoseSeries:
        """Return those that can be used, with stamps after an instant [ns]; say what cannot."""
        series = self.series
        if series is None or _of_another_frame(series):
            return NO_POSES
        covariance = np.zeros((len(series), 6, 6))
        if isinstance(series, PoseWithCovarianceSeries):
            covariance = series.covariance
        parts = series.seconds(origin_ns), series.position, series.quaternion_xyzw, covariance
        good = are_poses(*parts[1:]) & (series.stamp_ns != 0)
        if not good.all():
            tell(
                f'{series.topic}: {np.count_nonzero(~good)} of {len(series)} poses, message '
                f'{int(np.argmin(good)) + 1} first, have no stamp, a number that is not finite or '
                'no rotation, and are left out'
            )
        rows = _rising(series.stamp_ns, good)
        return PoseSeries(*(part[rows] for part in parts))

    def unmet(self, poses: PoseSeries, filtered: EstimateSeries) -> str:
        """Say that none of the poses was met; empty where one was, or where there are none."""
        if self.series is None or filtered.external is not None:
            return ''
        said = f'{self.series.topic}: none of {self.recorded} recorded poses was met'
        if not len(poses):
            return f'{said}, for none can be used'
        spans = (f'{item[0]:.6g} to {item[-1]:.6g} s' for item in (poses.stamps, filtered.stamps))
        return f'{said}: stamped {", the legs ".join(spans)}; are they from another clock?'


NO_TRACKER = Tracker()


class Posed(NamedTuple):
    """Poses that the rig itself told, by stamp, while its legs were recorded.

    Attributes:
        stamps (n,): [s].
        position, quaternion_xyzw (n, 3), (n, 4): [m].
    """

    stamps: Array
    position: Array
    quaternion_xyzw: Array

    @classmethod
    def within(cls, series: RecordedPoses, legs: Series, origin_ns: int) -> Posed | None:
        """Return those of the legs' time, with stamps after an instant [ns]; None of none."""
        stamps, heard = series.stamp_ns, legs.stamp_ns
        rows = np.argsort(stamps, kind='stable')
        rows = rows[(stamps[rows] >= heard.min()) & (stamps[rows] <= heard.max())]
        if not rows.size:
            return None
        parts = series.seconds(origin_ns), series.position, series.quaternion_xyzw
        return cls(*(part[rows] for part in parts))


def read_posed(bag: Bag) -> RecordedPoses | None:
    """Read what the rig itself told of its poses; None where it did not, or nobody can read it.

    Raises:
        BagError: If the bag is damaged.
    """
    there = bag.beside(TOLD_TOPIC, LEG_TOPIC)
    if there is None or not there.count:
        return None
    try:
        return read_series(bag, there.name, RecordedPoses)
    except DamagedBag:
        raise
    except BagError:
        return None


def read_tracker(bag: Bag, name: str) -> Tracker:
    """Read poses from outside, with a covariance or without.

    Args:
        bag: Knows the topics by our names.
        name: What the topic is called in it. By our own name it may lack, or be another's: then it
            is looked for beside the legs, and what is wrong with it is only said.

    Raises:
        BagError: If the bag is damaged, or a topic that was chosen cannot be read.
    """
    kinds: list[type[Recorded]] = [PoseWithCovarianceSeries, RecordedPoses]
    found: Topic | None = None
    try:
        found = bag.topic(name) if name != POSE_TOPIC else bag.beside(POSE_TOPIC, LEG_TOPIC)
        if found is None:
            return NO_TRACKER
        bag.topic(found.name, *(kind.MSGTYPE for kind in kinds))
        (kind,) = (kind for kind in kinds if found.msgtype == kind.MSGTYPE)
        series = read_series(bag, found.name, kind)
    except DamagedBag:
        raise
    except BagError as error:
        if name != POSE_TOPIC:
            raise
        tell(f'left out: {error}')
        return NO_TRACKER
    return Tracker(len(series), series if len(series) else None)


def _of_another_frame(series: Recorded) -> bool:
    """Say that poses are not those of the platform in its base, as the live node refuses them."""
    frames = {series.frame_id}
    for finding in series.findings:
        if finding.kind is Kind.FRAMES:
            frames |= set(finding.detail.split(', '))
    others = sorted(frames - {BASE_FRAME, ''})
    if others:
        tell(
            f'{series.topic}: poses must be in {BASE_FRAME}, got some in {", ".join(others)}: all '
            'are left out'
        )
    return bool(others)


def _rising(stamp_ns: NDArray[np.int64], good: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the good rows by stamp, of several with one stamp the first."""
    rows = np.flatnonzero(good)
    _, first = np.unique(stamp_ns[rows], return_index=True)
    return np.asarray(rows[first])
