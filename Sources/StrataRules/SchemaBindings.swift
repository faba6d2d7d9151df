import StrataModel
import StrataViews

/// The state of the record types and keys that a request names, loaded on demand.
struct SchemaBindings {
    let keyNames: [String]
    var types: [TypeState]
    var keys: [KeyState]
    let areKeysValid: Bool
    /// True if something has been looked up that the cached copy does not contain.
    private(set) var hasNews = true

    init(_ names: RequestNames, _ view: RulesView) throws {
        keyNames = names.keys
        let noBindings = KeyBindings(typeCount: names.recordTypes.count, keyCount: names.keys.count)
        types = try names.recordTypes.map { try TypeState($0, noBindings, view) }
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

    /// The binding of a key; nil if the key is not bound yet.
    mutating func binding(of key: UInt32, in type: Int, _ view: RulesView) throws -> Binding? {
        switch types[type].bindings[key] {
        case .bound(let known): return known
        case .none: return nil
        case .unknown: break
        }
        hasNews = true
        var binding: Binding?
        if types[type].ordinal != 0, let field = try view.ordinal(of: .field(keyNames[Int(key) - 1])) {
            keys[Int(key) - 1].ordinal = UInt32(field)
            binding = try view.schema(of: types[type].ordinal)[UInt32(field)].map { Binding($0) }
        }
        types[type].bindings[key] = binding.map { .bound($0) } ?? .none
        if binding == nil { types[type].hasNewKeys = true }
        return binding
    }

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
    /// The bindings of the request's keys.
    var bindings: KeyBindings
    /// True if there was a value for a key without a declaration.
    var hasNewKeys = false
    /// The number of keys that the request binds.
    var newlyBoundCount = 0

    init(_ name: String, _ bindings: KeyBindings, _ view: RulesView) throws {
        self.bindings = bindings
        self.name = name
        ordinal = try view.ordinal(of: .recordType(name)) ?? 0
        isValid = SchemaName.isIdentifier(name)
        isUsers = isSameText(name, UserRecord.type)
    }
}

/// A key that a request names.
struct KeyState {
    let isValid: Bool
    /// The length of the key's name in UTF-8.
    let byteCount: Int
    /// The ordinal in the store; 0 if there is none, or if it has not been looked up.
    var ordinal: UInt32 = 0

    init(_ name: String) {
        isValid = SchemaName.isIdentifier(name)
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
