/// Marks a point in time, or an end of an interval, for measurements.
// swift-format-ignore: AlwaysUseLowerCamelCase
public func os_signpost(
    _ type: OSSignpostType, log: OSLog, name: StaticString, signpostID: OSSignpostID = .exclusive
) {
    log.emit(type, name, signpostID) { "" }
}

/// Marks a point in time, or an end of an interval, with a text made from a format as that of `os_log`.
// swift-format-ignore: AlwaysUseLowerCamelCase
public func os_signpost(
    _ type: OSSignpostType, log: OSLog, name: StaticString, signpostID: OSSignpostID = .exclusive,
    _ format: StaticString, _ arguments: any CVarArg...
) {
    log.emit(type, name, signpostID) { OSLogMessage(format: format.description, arguments) }
}

/// Marks a point in time, or an end of an interval, with a text.
// swift-format-ignore: AlwaysUseLowerCamelCase
@_disfavoredOverload
public func os_signpost(
    _ type: OSSignpostType, log: OSLog, name: StaticString, signpostID: OSSignpostID = .exclusive,
    _ message: @autoclosure () -> SignpostMetadata
) {
    log.emit(type, name, signpostID, message: message)
}
