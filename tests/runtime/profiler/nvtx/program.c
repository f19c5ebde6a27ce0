/* A program that knows NVTX alone. Its argument says how it ends. */
#define _GNU_SOURCE
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static nvtxRangeId_t transfer;

static nvtxEventAttributes_t attributes(void) {
  nvtxEventAttributes_t a;
  memset(&a, 0, sizeof a);
  a.version = NVTX_VERSION;
  a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  return a;
}

static void* worker(void* unused) {
  (void)unused;
  nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "copier");
  nvtxRangePushA("copy");
  nvtxRangePop();
  nvtxRangeEnd(transfer);
  return NULL;
}

static void loader(void) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("loader");
  nvtxStringHandle_t name = nvtxDomainRegisterStringA(domain, "load batch");
  nvtxDomainNameCategoryA(domain, 7, "io");
  nvtxEventAttributes_t a = attributes();
  a.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  a.message.registered = name;
  a.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  a.payload.llValue = 42;
  a.category = 7;
  a.colorType = NVTX_COLOR_ARGB;
  a.color = 0xff00ff00;
  nvtxDomainRangePushEx(domain, &a);
  nvtxRangePushA("decode"); /* of the default domain, begun within and ended after the other's */
  nvtxDomainRangePop(domain);
  nvtxRangePop();
}

struct step {
  int32_t index;
  double loss;
};

static void step_with_payload(void) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("training");
  const nvtxPayloadSchemaEntry_t entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "index", NULL, 0, 0, NULL, NULL},
      {0, NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "loss", NULL, 0, 0, NULL, NULL},
  };
  nvtxPayloadSchemaAttr_t schema;
  memset(&schema, 0, sizeof schema);
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.entries = entries;
  schema.numEntries = 2;
  schema.payloadStaticSize = sizeof(struct step);
  const uint64_t id = nvtxPayloadSchemaRegister(domain, &schema);
  const struct step step = {3, 0.5};
  nvtxPayloadData_t data = {id, sizeof step, &step};
  nvtxEventAttributes_t a = attributes();
  a.messageType = NVTX_MESSAGE_TYPE_ASCII;
  a.message.ascii = "step";
  a.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  a.reserved0 = 1;
  a.payload.ullValue = NVTX_POINTER_AS_PAYLOAD_ULLVALUE(&data));
  nvtxDomainRangePushEx(domain, &a);
  nvtxDomainRangePop(domain);
}

static void work(void) {
  char name[32];
  int i;
  pthread_t thread;
  nvtxRangePop(); /* without a push */
  nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "trainer");
  nvtxRangePushA("epoch");
  for (i = 0; i < 3; ++i) {
    snprintf(name, sizeof name, "iteration %d", i); /* another text at the same address */
    nvtxRangePushA(name);
    nvtxRangePop();
  }
  nvtxRangePushW(L"m\u00fchsam");
  nvtxRangePop();
  nvtxMarkA("checkpoint");
  loader();
  step_with_payload();
  transfer = nvtxRangeStartA("transfer");
  pthread_create(&thread, NULL, worker, NULL);
  pthread_join(thread, NULL);
  nvtxRangePop();
}

/* `count` ranges, of which a thread of its own ends each second one, and one that is left running. */
static void* end_every_second(void* ranges) {
  nvtxRangeId_t* range = ranges;
  for (; *range != 0; range += 2) nvtxRangeEnd(*range);
  return NULL;
}

static void run_ranges(int count) {
  nvtxRangeId_t ranges[64] = {0};
  pthread_t thread;
  int i;
  for (i = 0; i < count; ++i) ranges[i] = nvtxRangeStartA("work of a worker");
  pthread_create(&thread, NULL, end_every_second, ranges);
  for (i = 1; i < count; i += 2) nvtxRangeEnd(ranges[i]);
  pthread_join(thread, NULL);
  nvtxRangeStartA("left running");
}

/* Each forked worker ends without ending the libraries it uses. */
static int workers(int count) {
  int status = 0, failed = 0, i;
  for (i = 0; i < count; ++i) {
    if (fork() == 0) {
      run_ranges(20);
      _exit(0);
    }
  }
  while (wait(&status) > 0) failed += !WIFEXITED(status) || WEXITSTATUS(status) != 0;
  return failed;
}

static double monotonic(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* Two ranges of the main thread; between them CLOCK_MONOTONIC passes `until`, or -`until` seconds pass. */
static int early_and_late(double until) {
  nvtxRangePushA("early");
  nvtxRangePop();
  if (until < 0) until = monotonic() - until;
  do {
    usleep(10000);
  } while (monotonic() <= until);
  nvtxRangePushA("late");
  nvtxRangePop();
  return 0;
}

int main(int count, char** arguments) {
  const char* const how = count > 1 ? arguments[1] : "exit";
  if (strcmp(how, "until") == 0) return early_and_late(atof(arguments[2]));
  if (strcmp(how, "workers") == 0) return workers(4);
  work();
  if (strcmp(how, "fork") == 0) {
    const pid_t child = fork();
    int status = 0;
    if (child == 0) {
      nvtxRangePushA("in the child");
      nvtxRangePop();
      exit(5);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 5 ? 0 : 1;
  }
  nvtxRangePushA("left open");
  if (strcmp(how, "_exit") == 0) _exit(7);
  if (strcmp(how, "quick_exit") == 0) quick_exit(7);
  if (strcmp(how, "abort") == 0) abort();
  if (strcmp(how, "kill") == 0) raise(SIGKILL);
  return 7;
}
