# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Open a bag and go through its messages in the order of bag time, without ROS."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import ExitStack, suppress
from functools import cached_property
import heapq
from itertools import islice
from operator import itemgetter
from pathlib import Path
import re
from tempfile import TemporaryDirectory

from rosbags.interfaces import Connection
from rosbags.rosbag2 import Reader
from rosbags.typesys.store import Typestore
from stewart_bags.bag_files import room_for, storage_files, StorageFile, unpack
from stewart_bags.decompression import decompress_messages
from stewart_bags.definitions import jazzy_typestore, typestore_of
from stewart_bags.errors import (
    DamagedBag,
    ForeignBag,
    MissingTopic,
    UndecodableMessage,
    WrongType,
)
from stewart_bags.overlaps import overlap_of
from stewart_bags.topics import Message, NS, RawMessage, Topic, topics_of
from stewart_bags.unindexed import OrderedReader

_TIME = itemgetter(1)
# rosbags names a database by a URI, where these begin something else.
URI_SIGNS = re.compile('[#?%]')


class Bag:
    """A bag, open for reading; use it as a context manager.

    Args:
        path: Directory, ``.mcap`` or ``.db3`` file, also compressed or without ``metadata.yaml``.
        renamed: What a topic is called in this bag, by the name under which it is asked for.

    Attributes:
        start_ns, end_ns: Bag time of the first and of the last message [ns]; 0 in an empty bag.
        typestore: Decodes every type of the bag that has a definition.

    Raises:
        NotABag: If there is no bag.
        DamagedBag: If a file was not closed, was cut or is corrupt.
        NoRoom: If a file is compressed as a whole, and there is no room to unpack it.
        OSError: If a file may not be read.
    """

    def __init__(self, path: str | Path, renamed: Mapping[str, str] | None = None) -> None:
        self.path, self._renamed = Path(path), dict(renamed or {})
        self._stack = ExitStack()
        try:
            self._readers = [self._open(item) for item in storage_files(self.path)]
            # In a split bag the order of the files is that of their first messages.
            self._readers.sort(key=lambda reader: reader.start_time)
        except BaseException:
            self._stack.close()
            raise
        connections = [item for reader in self._readers for item in reader.connections]
        self.topics = topics_of(connections)
        filled = [reader for reader in self._readers if reader.message_count]
        self.start_ns = min((reader.start_time for reader in filled), default=0)
        # rosbags counts up to the nanosecond after the last message.
        self.end_ns = max((reader.end_time - 1 for reader in filled), default=0)

    def __enter__(self) -> Bag:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @cached_property
    def typestore(self) -> Typestore:
        """Make the type store when it is first needed."""
        return typestore_of([item for reader in self._readers for item in reader.connections])

    @property
    def count(self) -> int:
        """Messages in the bag."""
        return sum(topic.count for topic in self.topics.values())

    @property
    def duration(self) -> float:
        """Time from the first to the last message [s]."""
        return (self.end_ns - self.start_ns) / NS

    @cached_property
    def overlap(self) -> float:
        """By how much of bag time it goes back, which the order of bag time hides [s]."""
        try:
            return overlap_of(self._readers)
        except Exception as error:  # what an index says may be anything
            raise DamagedBag(self.path, str(error) or type(error).__name__) from error

    def close(self) -> None:
        """Close the files; may be called again."""
        self._stack.close()

    def find(self, name: str) -> Topic | None:
        """Return a topic by its name as `topic` takes it; None where there is none."""
        name = self._renamed.get(name, name)
        found = self.topics.get(name) or self.topics.get(f'/{name}')
        if found is None and not name.startswith('/'):
            ending = [key for key in self.topics if key.endswith(f'/{name}')]
            found = self.topics[ending[0]] if len(ending) == 1 else None
        return found

    def beside(self, name: str, other: str) -> Topic | None:
        """Return a topic of the same machine as another one; None where there is none.

        A bag may hold the topics of several machines: a name that ends alike in another namespace
        is another machine's.

        Args:
            name: What it is called in the namespace in which `other` was found. A topic that was
                renamed is looked up as `find` does.
            other: Name of that other one, without its namespace, as `topic` takes it.

        Raises:
            MissingTopic: If the other one is not there.
        """
        if name in self._renamed:
            return self.find(name)
        parts = self.topic(other).name.split('/')[: -len(other.split('/'))]
        return self.topics.get('/'.join([*parts, name]))

    def topic(self, name: str, *expected: str) -> Topic:
        """Look a topic up.

        Args:
            name: Its full name; ``imu/data`` also finds ``/imu/data`` and the one topic that ends
                so.
            *expected: Message types that would do; none for any.

        Raises:
            MissingTopic: If there is none, or more than one that ends so.
            WrongType: If it carries none of the expected types.
        """
        found = self.find(name)
        if found is None:
            raise MissingTopic(self.path, self._renamed.get(name, name), self.topics)
        if expected and found.msgtype not in expected:
            raise WrongType(self.path, found.name, found.msgtype, expected)
        return found

    def store_for(self, msgtype: str, sample: bytes) -> Typestore:
        """Choose the definitions that fit a message type, of which `sample` is one message.

        Early versions of rosbag2 embedded unfinished definitions: where the bag's own contradict
        the sample and those of this machine fit, these are returned.
        """
        try:
            self.typestore.deserialize_cdr(sample, msgtype)
        except Exception:  # rosbags raises much on bytes that are none of the type
            ours = jazzy_typestore()
            with suppress(Exception):
                ours.deserialize_cdr(sample, msgtype)
                return ours
        return self.typestore

    def raw(
        self,
        topics: Collection[str] = (),
        *,
        start_ns: int | None = None,
        stop_ns: int | None = None,
    ) -> Iterator[RawMessage]:
        """Go through the messages as bytes, in the order of bag time.

        Args:
            topics: Names of the topics; none for all.
            start_ns, stop_ns: First bag time to be included, and the first not to be [ns].

        Raises:
            MissingTopic: If there is no such topic.
            DamagedBag: If a file turns out to be corrupt on the way.
        """
        names = {self.topic(name).name for name in topics}
        return self._walk(names, start_ns, stop_ns)

    def blocks(self, topic: str, size: int) -> Iterator[tuple[Sequence[int], Sequence[bytes]]]:
        """Go through one topic as `raw` does, so many bag times [ns] and messages at a time.

        That takes half of the time of going through the messages one by one.
        """
        name = self.topic(topic).name
        try:
            rows = self._rows({name})
            while block := list(islice(rows, size)):
                _, times_ns, data = zip(*block, strict=True)
                yield times_ns, data
        except Exception:  # rosbags raises almost anything on corrupt files
            # Says how far the bag can be read.
            deque(self.raw([topic]), maxlen=0)
            raise

    def messages(self, topics: Collection[str] = ()) -> Iterator[Message]:
        """Go through the messages decoded, in the order of bag time; topics as for `raw`.

        Raises:
            MissingTopic, DamagedBag: As `raw`.
            UndecodableMessage: If the bytes of a message do not fit its type, or nobody knows the
                type.
        """
        decoders: dict[str, Callable[[bytes, str], object]] = {}
        msgtypes = {topic.name: topic.msgtype for topic in self.topics.values()}
        for count, (topic, time_ns, data) in enumerate(self.raw(topics)):
            msgtype = msgtypes[topic]
            try:
                decode = decoders.get(msgtype)
                if decode is None:
                    decode = decoders[msgtype] = self.store_for(msgtype, data).deserialize_cdr
                message = decode(data, msgtype)
            except Exception as error:  # rosbags raises much on bytes that are none of the type
                raise UndecodableMessage(
                    self.path, topic, msgtype, time_ns, count, repr(error)
                ) from error
            yield Message(topic, time_ns, message)

    def _open(self, item: StorageFile) -> Reader:
        side = item.left_behind()
        if side is not None:
            raise DamagedBag(self.path, f'{side.name} is left: it was not closed')
        # What may not be read is not damaged, as rosbags would have it.
        item.path.open('rb').close()
        reader = OrderedReader(self._plain(item))
        try:
            reader.open()
        except Exception as error:  # rosbags raises almost anything on files that are no bag
            # It asks for a profile and for schemas that not every writer of mcap knows.
            foreign = isinstance(error, KeyError) or 'Profile' in str(error)
            kind = ForeignBag if foreign else DamagedBag
            raise kind(self.path, self._place(item, str(error))) from error
        self._stack.callback(reader.close)
        return reader

    def _plain(self, item: StorageFile) -> Path:
        """Return the file, decompressed, under a path that rosbags can open."""
        path = item.path
        if item.compression:
            path = self._scratch(room_for([item])) / item.plain_name
            failure = unpack(item, path)
            if failure is not None:
                raise DamagedBag(self.path, self._place(item, failure))
        if not URI_SIGNS.search(str(path)):
            return path
        link = self._scratch(None) / URI_SIGNS.sub('_', path.name)
        link.symlink_to(path.resolve())
        return link

    def _scratch(self, folder: Path | None) -> Path:
        """Make a directory that lasts as long as the bag is open."""
        return Path(self._stack.enter_context(TemporaryDirectory(prefix='bag_', dir=folder)))

    def _place(self, item: StorageFile, reason: str) -> str:
        return reason if item.path == self.path else f'{item.path.name}: {reason}'

    def _rows(
        self, names: Collection[str], start_ns: int | None = None, stop_ns: int | None = None
    ) -> Iterator[tuple[Connection, int, bytes]]:
        """Return the messages of some topics, or of all, as rosbags has them."""
        walks = [
            decompress_messages(reader.messages(wanted, start_ns, stop_ns))
            for reader in self._readers
            if (wanted := [c for c in reader.connections if not names or c.topic in names])
        ]
        # Merging costs as much as reading, and most bags are one file.
        return walks[0] if len(walks) == 1 else heapq.merge(*walks, key=_TIME)

    def _walk(
        self, names: Collection[str], start_ns: int | None, stop_ns: int | None
    ) -> Iterator[RawMessage]:
        count, time_ns = 0, None
        try:
            for connection, time_ns, data in self._rows(names, start_ns, stop_ns):
                yield RawMessage(connection.topic, time_ns, data)
                count += 1
        except Exception as error:  # rosbags raises almost anything on corrupt files
            reason = str(error) or type(error).__name__
            raise DamagedBag(self.path, reason, count=count, time_ns=time_ns) from error
