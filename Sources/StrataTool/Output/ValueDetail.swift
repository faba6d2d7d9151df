import StrataModel
import StrataRules

/// Prints a field value in full. For people, data is shortened.
struct ValueDetail {
    private static let mostDataBytes = 32

    let state: ContainerState
    /// The name of the record's zone.
    let zone: String

    /// Returns the value on one line, for people.
    func text(of value: FieldValue) throws -> String {
        switch value {
        case .data(let bytes):
            let digits = bytes.prefix(Self.mostDataBytes).map { hexadecimal($0) }.joined()
            let rest = bytes.count > Self.mostDataBytes ? "…" : ""
            return "<\(bytes.count.counted("byte")): \(digits)\(rest)>"
        case .location(let place):
            return "<\(place.latitude), \(place.longitude), altitude \(place.altitude), accuracy "
                + "\(place.horizontalAccuracy) and \(place.verticalAccuracy), course \(place.course), speed "
                + "\(place.speed), \(ValueText.text(of: .date(place.timestamp)))>"
        case .reference(let reference):
            let place = try otherZone(of: reference).map { " in " + Printable.escaped($0) } ?? ""
            return ValueText.text(of: value) + place + (reference.action == .deleteSelf ? ", deleted with it" : "")
        case .asset(let asset):
            return "<asset of \(asset.size.counted("byte")), \(asset.hash)>"
        case .list(let list): return "[" + (try list.elements.map(text)).joined(separator: ", ") + "]"
        default: return ValueText.text(of: value)
        }
    }

    /// Writes the keys of docs/guide/tool.md, "A value", with those that only `get` and `feed` print.
    func write(_ value: FieldValue, to json: inout JSONWriter) throws {
        guard [.location, .reference, .asset].contains(value.kind.element) else {
            return ValueText.write(value, to: &json)
        }
        json.beginObject()
        json.field("type", "\(value.kind)")
        json.key("value")
        if case .list(let list) = value {
            json.beginArray()
            for element in list.elements { try writeContent(of: element, to: &json) }
            json.endArray()
        } else {
            try writeContent(of: value, to: &json)
        }
        json.endObject()
    }

    private func writeContent(of value: FieldValue, to json: inout JSONWriter) throws {
        json.beginObject()
        switch value {
        case .location(let place):
            json.field("latitude", place.latitude)
            json.field("longitude", place.longitude)
            json.field("altitude", place.altitude)
            json.field("horizontalAccuracy", place.horizontalAccuracy)
            json.field("verticalAccuracy", place.verticalAccuracy)
            json.field("course", place.course)
            json.field("speed", place.speed)
            // Null for a time outside the range of microseconds.
            let time = Int64(exactly: EngineDate.microseconds(place.timestamp).rounded())
            if let time { json.field("time", time) } else { json.null("time") }
        case .reference(let reference):
            json.field("record", reference.target.name)
            json.fields(ofLink: reference)
            if let zone = try otherZone(of: reference) { json.field("zone", zone) }
        case .asset(let asset):
            json.field("bytes", asset.size)
            json.field("hash", "\(asset.hash)")
        default: break
        }
        json.endObject()
    }

    /// Returns nil for a record of the same zone.
    private func otherZone(of reference: FieldValue.Reference) throws -> String? {
        let name = try state.zone(reference.target.zone)
        return isSameText(name, zone) ? nil : name
    }
}
