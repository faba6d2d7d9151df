import StrataModel

/// A field's value as Swift source.
enum SwiftValue {
    case plain(String)
    case text(String)
    case call(String, [String])
    case list([String])
    case bytes([UInt8])

    /// The number of bytes per line; longer data is declared in a variable of its own.
    private static let bytesOfLine = 16

    /// Returns nil for a value that lacks its content, such as an asset.
    ///
    /// - Parameter record: returns the variable of a record's ID.
    init?(_ value: FieldValue, naming record: (RecordKey) -> String) {
        switch value {
        case .string(let text): self = .text(text)
        case .int64(let number): self = .plain("\(number)")
        case .double(let number): self = .plain(SwiftText.literal(number))
        case .date(let seconds): self = .plain(Self.date(seconds))
        case .data(let bytes): self = .bytes(bytes)
        case .location(let location): self = .call("CLLocation", Self.arguments(of: location))
        case .reference(let reference):
            let action = reference.action == .deleteSelf ? ".deleteSelf" : ".none"
            self = .call("CKRecord.Reference", ["recordID: \(record(reference.target))", "action: \(action)"])
        case .list(let list):
            let elements = list.elements.compactMap { SwiftValue($0, naming: record)?.inline }
            guard elements.count == list.elements.count else { return nil }
            self = elements.isEmpty ? .plain("[String]()") : .list(elements)
        case .asset, .sealed: return nil
        }
    }

    private static func date(_ seconds: Double) -> String {
        "Date(timeIntervalSinceReferenceDate: \(SwiftText.literal(seconds)))"
    }

    private static func arguments(of location: FieldValue.Location) -> [String] {
        func number(_ name: String, _ value: Double) -> String { "\(name): \(SwiftText.literal(value))" }
        let place = [number("latitude", location.latitude), number("longitude", location.longitude)]
        return [
            "coordinate: CLLocationCoordinate2D(\(place.joined(separator: ", ")))",
            number("altitude", location.altitude), number("horizontalAccuracy", location.horizontalAccuracy),
            number("verticalAccuracy", location.verticalAccuracy), number("course", location.course),
            number("speed", location.speed), "timestamp: \(date(location.timestamp))",
        ]
    }

    /// The value within a line.
    private var inline: String {
        switch self {
        case .plain(let text): text
        case .text(let text): SwiftText.literal(text)
        case .call(let name, let arguments): "\(name)(\(arguments.joined(separator: ", ")))"
        case .list(let elements): "[\(elements.joined(separator: ", "))]"
        case .bytes(let bytes): "Data([\(bytes.map { "\($0)" }.joined(separator: ", "))] as [UInt8])"
        }
    }

    /// Returns the lines that assign the value.
    ///
    /// - Parameter name: returns a name for a variable that has to be declared first.
    func assignment(to target: String, _ indentation: Int, _ name: () -> String) -> [String] {
        switch self {
        case .plain(let text): return [SwiftText.indented("\(target) = \(text)", indentation)]
        case .text(let text): return SwiftText.assignment(of: text, to: target, indentation)
        case .call(let function, let arguments):
            return SwiftText.call("\(target) = \(function)", arguments, indentation)
        case .list(let elements): return SwiftText.assignment(of: elements, to: target, indentation)
        case .bytes(let bytes):
            if bytes.count <= Self.bytesOfLine { return [SwiftText.indented("\(target) = \(inline)", indentation)] }
            let variable = name()
            let lines = stride(from: 0, to: bytes.count, by: Self.bytesOfLine).map { start in
                bytes[start..<min(start + Self.bytesOfLine, bytes.count)].map { "\($0)" }.joined(separator: ", ") + ","
            }
            let end = ["]", "\(target) = Data(\(variable))"].map { SwiftText.indented($0, indentation) }
            return [SwiftText.indented("let \(variable): [UInt8] = [", indentation)]
                + lines.map { SwiftText.indented($0, indentation + 4) } + end
        }
    }
}
