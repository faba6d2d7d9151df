/// Writes a message of the level `default` to the log without a subsystem.
// swift-format-ignore: AlwaysUseLowerCamelCase
@_disfavoredOverload
public func os_log(_ message: @autoclosure () -> OSLogMessage) { Logger().log(message()) }

/// Writes a message.
// swift-format-ignore: AlwaysUseLowerCamelCase
@_disfavoredOverload
public func os_log(
    _ logLevel: OSLogType = .default, log: OSLog = .default, _ message: @autoclosure () -> OSLogMessage
) {
    Logger(log).log(level: logLevel, message())
}

/// Writes a message with a format, in which `%{public}@` shows its argument and `%{private}d` hides it.
// swift-format-ignore: AlwaysUseLowerCamelCase
public func os_log(
    _ message: StaticString, log: OSLog = .default, type: OSLogType = .default, _ args: any CVarArg...
) {
    Logger(log).log(level: type, OSLogMessage(format: message.description, args))
}

/// Writes a message with a format, in which `%{public}@` shows its argument and `%{private}d` hides it.
// swift-format-ignore: AlwaysUseLowerCamelCase
public func os_log(
    _ type: OSLogType, log: OSLog = .default, _ message: StaticString, _ args: any CVarArg...
) {
    Logger(log).log(level: type, OSLogMessage(format: message.description, args))
}
