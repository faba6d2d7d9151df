import StrataModel
import StrataViews

/// The state of the record types and keys that a request names, loaded on demand.
struct SchemaBindings {
    let keyNames: [String]
    var types: [TypeState]
    var keys: [KeyState]
    let areKeysValid: Bool
    /// True if something has been looked up that the cached copy does not contain.
    var hasNews = true

    init(_ names: RequestNames, ordinals: [UInt64]) {
        keyNames = names.keys
        let noBindings = KeyBindings(typeCount: names.recordTypes.count, keyCount: names.keys.count)
        types = zip(names.recordTypes, ordinals).map { TypeState($0, noBindings, ordinal: $1) }
        keys = names.keys.map { KeyState($0) }
        areKeysValid = keys.allSatisfy(\.isValid)
    }

    /// Returns true if these are the bindings of the names, in the same order.
    func isOf(types typeNames: [String], keys: [String]) -> Bool {
        keys.count == keyNames.count && typeNames.count == types.count
            && zip(typeNames, types).allSatisfy { isSameText($0, $1.name) }
            && zip(keys, keyNames).allSatisfy { isSameText($0, $1) }
    }

    /// True if the types and keys looked up are stored, so that they do not depend on the outcome of the request.
    var isOfState: Bool { types.allSatisfy { $0.ordinal != 0 && !$0.hasNewKeys } }

    /// Binds unbound keys according to the values of a save.
    mutating func bind(_ fields: [FieldChange], of type: Int) {
        for change in fields {
            guard case .none = types[type].bindings[change.field],
                let binding = change.value.flatMap({ Binding($0) })
            else { continue }
            types[type].bindings[change.field] = .bound(binding)
            types[type].newlyBoundCount += 1
        }
    }

    /// A copy to cache for requests with the same names.
    var kept: SchemaBindings {
        var kept = self
        kept.hasNews = false
        return kept
    }
}

/// A record type that a request names.
struct TypeState {
    let name: String
    /// 0 if the type has no ordinal yet.
    var ordinal: UInt64
    let isValid: Bool
    let isUsers: Bool
    /// True for the records of shares, whose type and keys need no declaration.
    let isShare: Bool
    /// The bindings of the request's keys.
    var bindings: KeyBindings
    /// True if there was a value for a key without a declaration.
    var hasNewKeys = false
    /// The number of keys that the request binds.
    var newlyBoundCount = 0

    init(_ name: String, _ bindings: KeyBindings, ordinal: UInt64) {
        self.bindings = bindings
        self.name = name
        self.ordinal = ordinal
        isShare = isSameText(name, ShareState.recordType)
        isValid = isShare || SchemaName.isIdentifier(name)
        isUsers = isSameText(name, UserRecord.type)
    }
}

/// A key that a request names.
struct KeyState {
    let isValid: Bool
    /// True for a key that only shares can have.
    let isOfShares: Bool
    /// The length of the key's name in UTF-8.
    let byteCount: Int
    /// The ordinal in the store; 0 if there is none, or if it has not been looked up.
    var ordinal: UInt32 = 0

    init(_ name: String) {
        isValid = SchemaName.isIdentifier(name)
        isOfShares = !isValid && ShareState.systemKeys.contains { isSameText($0, name) }
        byteCount = name.utf8.count
    }
}

/// The known binding of a key of a request.
enum KeyBinding {
    /// The binding has not been looked up yet.
    case unknown
    case none
    case bound(Binding)
}

/// The bindings of a request's keys in one type, by the key's ordinal.
struct KeyBindings {
    /// The maximum number of pairs of types and keys for which an array is used; beyond it, only known bindings are
    /// stored.
    private static let maximumPlaces = 1 << 20

    private var places: [KeyBinding] = []
    private var known: [UInt32: KeyBinding] = [:]

    init(typeCount: Int, keyCount: Int) {
        let (count, isOver) = typeCount.multipliedReportingOverflow(by: keyCount)
        if !isOver, count <= Self.maximumPlaces { places = Array(repeating: .unknown, count: keyCount) }
    }

    subscript(key: UInt32) -> KeyBinding {
        get { places.isEmpty ? known[key] ?? .unknown : places[Int(key) - 1] }
        set {
            if places.isEmpty { known[key] = newValue } else { places[Int(key) - 1] = newValue }
        }
    }
}
