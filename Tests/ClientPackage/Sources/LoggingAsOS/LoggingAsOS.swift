import os

/// Logs as a program whose source is that of Apple's platforms.
public func log(_ number: Int) -> String {
    let logger = os.Logger(subsystem: "client", category: "logging as os")
    logger.info("Number \(number, align: .right(columns: 5)) of \("Anna", privacy: .public)")
    os_log("Number %d", log: .default, type: .info, number)
    #if canImport(os)
    return "LoggingAsOS"
    #else
    return "nobody"
    #endif
}
