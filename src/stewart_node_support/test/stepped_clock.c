// Copyright 2026 The Stewart Authors
// SPDX-License-Identifier: Apache-2.0
//
// Preloaded, this adds what a file holds, a 64-bit number of nanoseconds, to the real-time clock of
// a process and of its children: a test steps their clock and leaves the machine's alone. The file
// is named by STEPPED_CLOCK.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static const int64_t second = 1000000000;

static int64_t offset(void) {
  static volatile int64_t *shared;
  if (!shared) {
    const char *name = getenv("STEPPED_CLOCK");
    int file = name ? open(name, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return 0;
    void *found = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (found == MAP_FAILED) return 0;
    shared = found;
  }
  return *shared;
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int result = (int)syscall(SYS_clock_gettime, clock, now);
  if (result == 0 && clock == CLOCK_REALTIME) {
    int64_t stepped = now->tv_sec * second + now->tv_nsec + offset();
    now->tv_sec = stepped / second;
    now->tv_nsec = stepped % second;
  }
  return result;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  (void)zone;
  struct timespec stepped;
  int result = clock_gettime(CLOCK_REALTIME, &stepped);
  now->tv_sec = stepped.tv_sec;
  now->tv_usec = stepped.tv_nsec / 1000;
  return result;
}

time_t time(time_t *result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}

// A wait that ends at an instant of the real-time clock ends when the stepped clock shows it, as
// the kernel does it: it is cut into slices. Returns 0 if the instant is there, else sets the end
// of the next slice, by the clock of the machine.
static int next_slice(const struct timespec *end, struct timespec *until) {
  const int64_t slice = 20000000, due = end->tv_sec * second + end->tv_nsec;
  struct timespec stepped;
  clock_gettime(CLOCK_REALTIME, &stepped);
  int64_t now = stepped.tv_sec * second + stepped.tv_nsec;
  if (now >= due) return 0;
  int64_t stop = now - offset() + (due - now < slice ? due - now : slice);
  until->tv_sec = stop / second;
  until->tv_nsec = stop % second;
  return 1;
}

int pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                           const struct timespec *end) {
  static int (*wait)(pthread_cond_t *, pthread_mutex_t *, const struct timespec *);
  if (!wait) *(void **)&wait = dlvsym(RTLD_NEXT, "pthread_cond_timedwait", "GLIBC_2.3.2");
  // Instants of the other clock are small numbers.
  if (end->tv_sec < second) return wait(condition, mutex, end);
  struct timespec until;
  while (next_slice(end, &until)) {
    int result = wait(condition, mutex, &until);
    if (result != ETIMEDOUT) return result;
  }
  return ETIMEDOUT;
}

int sem_timedwait(sem_t *semaphore, const struct timespec *end) {
  static int (*wait)(sem_t *, const struct timespec *);
  if (!wait) *(void **)&wait = dlsym(RTLD_NEXT, "sem_timedwait");
  struct timespec until;
  while (next_slice(end, &until)) {
    if (wait(semaphore, &until) == 0) return 0;
    if (errno != ETIMEDOUT) return -1;
  }
  if (sem_trywait(semaphore) == 0) return 0;
  errno = ETIMEDOUT;
  return -1;
}
