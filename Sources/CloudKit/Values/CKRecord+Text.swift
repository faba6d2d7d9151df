import Foundation
import StrataModel

extension CKRecord {
    var oneLine: String {
        let id = "\(recordType) \(recordID.recordName.debugDescription) in \(recordID.zoneID.zoneName)"
        let owner = recordID.zoneID.model.owner
        let fields = withFields { $0 }
        var parts = fields.all(isEncrypted: false).map { key, content in "\(key): \(content.text)" }
        parts += fields.all(isEncrypted: true).map { key, _ in "\(key): encrypted" }
        let text =
            "<CKRecord: \(id)\(owner.isEmpty ? "" : " of \(owner)"), tag \(recordChangeTag ?? "none")"
            + "; {\(parts.joined(separator: ", "))}>"
        // Invalid names, which no save accepts, can contain line breaks too.
        return text.withoutControls
    }
}

extension String {
    /// The text on one line, with control characters escaped as `\u{1B}`.
    var withoutControls: String {
        guard unicodeScalars.contains(where: \.breaksLines) else { return self }
        return unicodeScalars.reduce(into: "") { line, scalar in
            line += scalar.breaksLines ? scalar.escaped(asASCII: true) : String(scalar)
        }
    }
}

extension Unicode.Scalar {
    fileprivate var breaksLines: Bool {
        [.control, .lineSeparator, .paragraphSeparator].contains(properties.generalCategory)
    }
}

extension FieldContent {
    fileprivate var text: String {
        switch self {
        case .plain(let value): value.text
        case .reference(let reference): "\(reference)"
        case .references(let references): "\(references)"
        case .asset(let asset): "\(asset)"
        case .assets(let assets): "\(assets)"
        case .mistake(let reason): "?? \(reason)"
        }
    }
}

extension FieldValue {
    /// The value without line breaks; data is shown as its number of bytes.
    fileprivate var text: String {
        switch self {
        case .string(let text): text.debugDescription
        case .int64(let number): "\(number)"
        case .double(let number): "\(number)"
        // Foundation cannot describe a date that is not a number.
        case .date(let seconds) where seconds.isNaN: "no date"
        case .date(let seconds): "\(Date(timeIntervalSinceReferenceDate: seconds))"
        case .data(let bytes): "\(bytes.count) bytes"
        case .location(let location): "<\(location.latitude),\(location.longitude)>"
        case .list(let list): "[\(list.elements.map(\.text).joined(separator: ", "))]"
        case .reference, .asset, .sealed: "\(kind)"
        }
    }
}
