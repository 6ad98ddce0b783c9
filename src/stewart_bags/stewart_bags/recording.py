# Copyright 2026 The Stewart Authors
# SPDX-License-Identifier: Apache-2.0
"""Write a bag from a thread of its own, so that a slow disk never holds up who receives."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
import threading
import time

from rosbags.interfaces import Qos
from stewart_bags.errors import BagError, WriteFailed
from stewart_bags.writing import BagWriter

CAPACITY = 50_000
LARGEST_QUEUE = 2**28
"""Bytes that may wait: of a camera's pictures ten thousand would fill the memory."""
# What was received is on disk after this time, whether or not more messages come [s].
FLUSH_PERIOD = 0.5
# The writer looks this often [s]. Woken by every message it would take the interpreter lock a
# thousand times a second, each time in the middle of somebody's callback.
DRAIN_PERIOD = 0.02

_Item = tuple[str, int, bytes]


class Recording:
    """A bag being written from a bounded queue, and flushed twice a second.

    What the queue cannot take, or what comes after the disk has failed, is counted as lost.

    Args:
        writer: The open bag; this object closes it.
        capacity: Messages that may wait.

    Attributes:
        lost: Messages that could not be recorded, by topic.
        failure: Why the writing ended, if it did.
    """

    def __init__(self, writer: BagWriter, *, capacity: int = CAPACITY) -> None:
        self._writer = writer
        self._queue: deque[_Item] = deque()
        self._capacity = capacity
        # Each is counted by one thread alone.
        self._bytes_put = self._bytes_taken = 0
        self._closing = threading.Event()
        self._lock = threading.Lock()
        self.lost: dict[str, int] = {}
        self.failure: BagError | None = None
        self._thread = threading.Thread(target=self._work, name='bag_writer', daemon=True)
        self._thread.start()

    @property
    def counts(self) -> dict[str, int]:
        """Messages written so far, by topic; complete after `close`."""
        return dict(self._writer.counts)

    @property
    def size(self) -> int:
        """Bytes on disk so far."""
        return self._writer.size

    @property
    def waiting(self) -> int:
        """Messages in the queue."""
        return len(self._queue)

    @property
    def waiting_bytes(self) -> int:
        """Bytes in the queue, with those of the message that is being written."""
        return self._bytes_put - self._bytes_taken

    def add_topic(self, topic: str, msgtype: str, *, qos: Sequence[Qos] = ()) -> None:
        """Announce a topic; arguments as for `BagWriter.add_topic`, errors, too."""
        with self._lock:
            self._writer.add_topic(topic, msgtype, qos=qos)
        self.lost.setdefault(topic, 0)

    def put(self, topic: str, time_ns: int, data: bytes, *, patient: bool = False) -> None:
        """Hand over one message that was received at a time [ns since the epoch].

        Args:
            topic: A topic that was announced.
            time_ns, data: As for `BagWriter.write_raw`.
            patient: Wait while the queue is full, which simulated time allows; otherwise the
                message is counted as lost.
        """
        while patient and self._full(data) and self.failure is None:
            time.sleep(DRAIN_PERIOD)
        if self._full(data):
            self.lost[topic] += 1
        else:
            self._bytes_put += len(data)
            self._queue.append((topic, time_ns, data))

    def close(self) -> None:
        """Write what is waiting and finish the bag; WriteFailed if the disk failed before."""
        if self._thread.is_alive():
            self._closing.set()
            self._thread.join()
            try:
                self._writer.close()
            except BagError as error:
                self.failure = self.failure or error
        if self.failure is not None:
            raise self.failure

    def _full(self, data: bytes) -> bool:
        """Tell whether the queue cannot take a message; one alone it can, whatever its size."""
        waiting = self.waiting_bytes
        full = waiting > 0 and waiting + len(data) > LARGEST_QUEUE
        return full or len(self._queue) >= self._capacity

    def _work(self) -> None:
        flushed = time.monotonic()
        closing = False
        while not closing:
            # Asked first, written afterwards: so what was put before `close` is written.
            closing = self._closing.wait(DRAIN_PERIOD)
            while self._queue:
                topic, time_ns, data = self._queue.popleft()
                if not self._guarded(self._writer.write_raw, topic, time_ns, data):
                    self.lost[topic] += 1
                self._bytes_taken += len(data)
                flushed = self._flushed(flushed)
            flushed = self._flushed(flushed)

    def _flushed(self, before: float) -> float:
        """Bring the disk up to date where it is time to; return when that was done last [s]."""
        now = time.monotonic()
        if now - before <= FLUSH_PERIOD:
            return before
        self._guarded(self._writer.flush)
        return now

    def _guarded(self, work: object, *arguments: object) -> bool:
        """Do something with the writer unless it has failed; tell whether it was done."""
        if self.failure is None:
            try:
                with self._lock:
                    work(*arguments)  # type: ignore[operator]
            except BagError as error:
                self.failure = error
            except Exception as error:
                # It would end this thread, and nobody would hear of what is lost from then on.
                said = 'out of memory' if isinstance(error, MemoryError) else repr(error)
                self.failure = WriteFailed(self._writer.path, self._writer.count, said)
        return self.failure is None
