import StrataModel
import StrataViews

/// What the record types and keys that a request names are in the state, as far as somebody has asked.
struct Vocabulary {
    let keyNames: [String]
    var types: [TypeState]
    var keys: [KeyState]
    let areKeysValid: Bool
    /// Whether something was found out that whoever kept it does not know yet.
    private(set) var hasNews = true

    init(_ names: RequestNames, _ view: RulesView) throws {
        keyNames = names.keys
        let noBindings = KeyBindings(typeCount: names.recordTypes.count, keyCount: names.keys.count)
        types = try names.recordTypes.map { try TypeState($0, noBindings, view) }
        keys = names.keys.map { KeyState($0) }
        areKeysValid = keys.allSatisfy(\.isValid)
    }

    /// Whether it is of these names, in the same order.
    func isOf(types typeNames: [String], keys: [String]) -> Bool {
        keys.count == keyNames.count && typeNames.count == types.count
            && zip(typeNames, types).allSatisfy { isSameText($0, $1.name) }
            && zip(keys, keyNames).allSatisfy { isSameText($0, $1) }
    }

    /// Whether all of it is so in the state: nothing is new that the request may not come to.
    var isOfState: Bool { types.allSatisfy { $0.ordinal != 0 && !$0.hasNewKeys } }

    /// What a key takes; nil as long as nothing has been saved for it.
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

    /// Binds keys that nothing is bound to yet to what a save has for them.
    mutating func bind(_ fields: [FieldChange], of type: Int) {
        for change in fields {
            guard case .none = types[type].bindings[change.field],
                let binding = change.value.flatMap({ Binding($0) })
            else { continue }
            types[type].bindings[change.field] = .bound(binding)
            types[type].newlyBoundCount += 1
        }
    }

    /// To be kept for requests of the same names.
    var kept: Vocabulary {
        var kept = self
        kept.hasNews = false
        return kept
    }
}

/// A record type that a request names.
struct TypeState {
    let name: String
    /// 0 if it has none yet.
    var ordinal: UInt64
    let isValid: Bool
    let isUsers: Bool
    /// What the keys of the request are bound to.
    var bindings: KeyBindings
    /// Whether there was a value whose key nothing is declared for.
    var hasNewKeys = false
    /// Keys that the request binds.
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
    /// Of its name, in UTF-8.
    let byteCount: Int
    /// That of the store; 0 if it has none, or nobody has asked yet.
    var ordinal: UInt32 = 0

    init(_ name: String) {
        isValid = SchemaName.isIdentifier(name)
        byteCount = name.utf8.count
    }
}

/// What a key of a request is known to be bound to.
enum KeyBinding {
    /// Nobody has asked yet.
    case unknown
    case none
    case bound(Binding)
}

/// What each key of a request is bound to in one type, by the key's ordinal.
struct KeyBindings {
    /// Up to so many pairs of a type and a key, each has a place; beyond, only those that are asked for.
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
