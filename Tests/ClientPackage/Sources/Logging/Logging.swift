#if canImport(os)
import os
#else
import StrataOS
#endif

/// Logs as a program that changed its import.
public func log(_ number: Int) -> String {
    let logger = Logger(subsystem: "client", category: "logging")
    logger.info("Number \(number, format: .hex(includePrefix: true)) of \("Anna", privacy: .private(mask: .hash))")
    return OSLog.default.isEnabled(type: .info) ? "Logging" : "nobody"
}
