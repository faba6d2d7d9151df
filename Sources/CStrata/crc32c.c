// CRC-32C, three ways: a portable table walk, SSE 4.2 and ARMv8 instructions. docs/format.md names the parameters.
//
// The instruction takes three cycles but can start every cycle, so long inputs are cut into three lanes that run side
// by side; "shifting" a lane's checksum over the bytes of the lanes behind it (a multiplication in GF(2), by table)
// joins them.

#include "cstrata.h"

#include <string.h>

#define POLYNOMIAL 0x82F63B78u
#define LONG_LANE 4096
#define SHORT_LANE 256

static uint32_t byte_table[8][256];
static uint32_t long_shift[4][256];
static uint32_t short_shift[4][256];
static int has_hardware;

static uint32_t shift_one_byte(uint32_t checksum) {
    return byte_table[0][checksum & 0xFF] ^ (checksum >> 8);
}

// Shifting is linear, so the shift of any value is the XOR of the shifts of its bits.
static void fill_shift_table(uint32_t table[4][256], size_t lane_bytes) {
    uint32_t bit_shift[32];
    for (int bit = 0; bit < 32; bit++) {
        uint32_t value = 1u << bit;
        for (size_t i = 0; i < lane_bytes; i++) value = shift_one_byte(value);
        bit_shift[bit] = value;
    }
    for (int byte = 0; byte < 4; byte++)
        for (int value = 0; value < 256; value++) {
            uint32_t sum = 0;
            for (int bit = 0; bit < 8; bit++)
                if (value & (1 << bit)) sum ^= bit_shift[byte * 8 + bit];
            table[byte][value] = sum;
        }
}

#if defined(__x86_64__)
#include <cpuid.h>
#include <nmmintrin.h>
#define HARDWARE __attribute__((target("sse4.2")))
#define STEP64(checksum, value) ((uint32_t)_mm_crc32_u64((checksum), (value)))
#define STEP8(checksum, value) _mm_crc32_u8((checksum), (value))
static int detect_hardware(void) {
    unsigned a, b, c, d;
    return __get_cpuid(1, &a, &b, &c, &d) && (c & bit_SSE4_2);
}
#elif defined(__aarch64__)
#include <arm_acle.h>
#include <sys/auxv.h>
#define HARDWARE __attribute__((target("crc")))
#define STEP64(checksum, value) __crc32cd((checksum), (value))
#define STEP8(checksum, value) __crc32cb((checksum), (value))
#ifndef HWCAP_CRC32
#define HWCAP_CRC32 (1 << 7)
#endif
static int detect_hardware(void) { return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0; }
#else
static int detect_hardware(void) { return 0; }
#endif

// Runs before main, so that no call needs to ask whether the tables are there.
__attribute__((constructor)) static void prepare(void) {
    for (uint32_t value = 0; value < 256; value++) {
        uint32_t checksum = value;
        for (int bit = 0; bit < 8; bit++) checksum = (checksum >> 1) ^ ((checksum & 1) ? POLYNOMIAL : 0);
        byte_table[0][value] = checksum;
    }
    for (int row = 1; row < 8; row++)
        for (int value = 0; value < 256; value++) byte_table[row][value] = shift_one_byte(byte_table[row - 1][value]);
    fill_shift_table(long_shift, LONG_LANE);
    fill_shift_table(short_shift, SHORT_LANE);
    has_hardware = detect_hardware();
}

int strata_crc32c_has_hardware(void) { return has_hardware; }

static uint64_t load64(const uint8_t *bytes) {
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

uint32_t strata_crc32c_portable(uint32_t checksum, const void *start, size_t count) {
    const uint8_t *bytes = start;
    checksum = ~checksum;
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    while (count >= 8) {
        uint64_t word = load64(bytes) ^ checksum;
        checksum = 0;
        for (int i = 0; i < 8; i++) checksum ^= byte_table[7 - i][(word >> (8 * i)) & 0xFF];
        bytes += 8;
        count -= 8;
    }
#endif
    while (count--) checksum = byte_table[0][(checksum ^ *bytes++) & 0xFF] ^ (checksum >> 8);
    return ~checksum;
}

#ifdef HARDWARE
static uint32_t shift(const uint32_t table[4][256], uint32_t checksum) {
    return table[0][checksum & 0xFF] ^ table[1][(checksum >> 8) & 0xFF] ^ table[2][(checksum >> 16) & 0xFF]
        ^ table[3][checksum >> 24];
}

HARDWARE static inline uint32_t three_lanes(
    uint32_t checksum, const uint8_t *bytes, size_t lane, const uint32_t table[4][256]
) {
    uint32_t second = 0, third = 0;
    for (size_t i = 0; i < lane; i += 8) {
        checksum = STEP64(checksum, load64(bytes + i));
        second = STEP64(second, load64(bytes + lane + i));
        third = STEP64(third, load64(bytes + 2 * lane + i));
    }
    return shift(table, shift(table, checksum) ^ second) ^ third;
}

HARDWARE uint32_t strata_crc32c_hardware(uint32_t checksum, const void *start, size_t count) {
    const uint8_t *bytes = start;
    checksum = ~checksum;
    for (; count >= 3 * LONG_LANE; bytes += 3 * LONG_LANE, count -= 3 * LONG_LANE)
        checksum = three_lanes(checksum, bytes, LONG_LANE, long_shift);
    for (; count >= 3 * SHORT_LANE; bytes += 3 * SHORT_LANE, count -= 3 * SHORT_LANE)
        checksum = three_lanes(checksum, bytes, SHORT_LANE, short_shift);
    for (; count >= 8; bytes += 8, count -= 8) checksum = STEP64(checksum, load64(bytes));
    while (count--) checksum = STEP8(checksum, *bytes++);
    return ~checksum;
}
#else
uint32_t strata_crc32c_hardware(uint32_t checksum, const void *start, size_t count) {
    return strata_crc32c_portable(checksum, start, count);
}
#endif

uint32_t strata_crc32c(uint32_t checksum, const void *start, size_t count) {
    return has_hardware ? strata_crc32c_hardware(checksum, start, count)
                        : strata_crc32c_portable(checksum, start, count);
}
