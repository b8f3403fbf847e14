#define _GNU_SOURCE
#include "CLinux.h"
