import Foundation
import StrataModel
import StrataStore

/// A file in which an app keeps the state of a sync engine: JSON, a property list, or the bytes of a state alone.
///
/// An app may have the state in a structure of its own, and the encoded structure in a property list again, so every
/// object under a key `data` is tried, at any depth.
struct SyncStateFile {
    private static let maximumBytes = 1 << 30
    private static let maximumDepth = 64

    private var states: [SyncState] = []
    /// The error of the first bytes that are no state.
    private var damage: StrataError?
    private var hasForeignArchive = false

    /// Returns the only state in a file, or the only one of a database's engine.
    ///
    /// - Parameters:
    ///   - path: `-` for the standard input.
    ///   - scope: The database; nil for any.
    /// - Throws: ``StrataError`` if there is no such state, or if there are several.
    static func read(_ path: String, scope: InternedName.Scope?) throws -> SyncState {
        let bytes = try InputText.bytes(path, atMost: maximumBytes, tooLong: "The file of the state is too long.")
        var file = SyncStateFile()
        file.search(Data(bytes), depth: 0)
        let states = file.states.filter { scope == nil || $0.scope == scope }
        if states.count == 1 { return states[0] }
        throw file.error(path, states, scope)
    }

    private func error(_ path: String, _ fitting: [SyncState], _ scope: InternedName.Scope?) -> StrataError {
        if !fitting.isEmpty {
            let scopes = Set(fitting.map(\.scope.name)).sorted()
            return StrataError(
                .invalidArgument,
                scopes.count == 1
                    ? "The file has several states of one database's sync engine; save one of them to its own file."
                    : "The file has several states of sync engines; --database selects those of a database.",
                .init(path: path, expected: "one", found: "\(fitting.count), of \(scopes.joined(separator: " and "))"))
        }
        if let other = states.first, let scope {
            return StrataError(
                .notFound, "The file has no state of that database's sync engine.",
                .init(path: path, expected: scope.name, found: other.scope.name))
        }
        if hasForeignArchive {
            return StrataError(
                .wrongMagic, "This is a keyed archive, as Apple's platforms write it; it cannot be read.",
                .init(path: path, expected: "a state of this CKSyncEngine"))
        }
        if let damage {
            if damage.code == .newerFormat { return damage.located(path: path) }
            return StrataError(
                .malformed, "The state of a sync engine in the file is damaged or not recognized.",
                .init(path: path), cause: damage)
        }
        return StrataError(
            .wrongMagic, "The file has no state of a sync engine.",
            .init(path: path, expected: "what a CKSyncEngine.State.Serialization was encoded to"))
    }

    // MARK: Searching

    private mutating func search(_ data: Data, depth: Int) {
        guard depth < Self.maximumDepth else { return }
        if data.starts(with: Data("bplist".utf8)) || data.starts(with: Data("<".utf8)) {
            if BinaryPropertyList(data).hasSet { return attempt(data) }
            // An encoder writes any bytes as they are, so a damaged list may still be a list.
            let list = try? PropertyListSerialization.propertyList(from: data, options: [], format: nil)
            if let list { return search(list, depth: depth + 1) }
        } else if let first = data.first(where: { !Self.spaces.contains($0) }), Self.brackets.contains(first) {
            let json = try? JSONSerialization.jsonObject(with: data)
            if let json { return search(json, depth: depth + 1) }
        }
        attempt(data)
    }

    private static let spaces = Set(" \t\r\n".utf8)
    private static let brackets = Set("{[".utf8)

    private mutating func search(_ value: Any, depth: Int) {
        guard depth < Self.maximumDepth else { return }
        switch value {
        case let object as [String: Any]:
            if object["$archiver"] != nil {
                hasForeignArchive = true
                return
            }
            for (key, value) in object.sorted(by: { $0.key < $1.key }) {
                if key == "data", let text = value as? String, let data = Data(base64Encoded: text) {
                    search(data, depth: depth + 1)
                } else {
                    search(value, depth: depth + 1)
                }
            }
        case let values as [Any]: for value in values { search(value, depth: depth + 1) }
        case let data as Data: search(data, depth: depth + 1)
        default: break
        }
    }

    private mutating func attempt(_ data: Data) {
        do { states.append(try SyncState(decoding: [UInt8](data))) } catch let error as StrataError {
            damage = damage ?? error
        } catch {}
    }
}
