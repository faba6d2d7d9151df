import Glibc

/// Whether some bytes stand anywhere in others, one behind the other; by the C library, because builds for tests are
/// not optimised.
package func isFound(_ wanted: [UInt8], in bytes: [UInt8]) -> Bool {
    precondition(!wanted.isEmpty, "nothing stands everywhere")
    return bytes.withUnsafeBytes { bytes in
        wanted.withUnsafeBytes { wanted in
            guard var start = bytes.baseAddress, let first = wanted.baseAddress else { return false }
            let end = start + bytes.count
            while end - start >= wanted.count,
                let found = memchr(start, Int32(wanted[0]), end - start - wanted.count + 1)
            {
                if memcmp(found, first, wanted.count) == 0 { return true }
                start = UnsafeRawPointer(found) + 1
            }
            return false
        }
    }
}
