import StrataModel
import StrataSystem
import Testing

@testable import StrataStore

/// A client of a store in memory, with short ways to ask it things. Copies share the store and its clock.
struct Client: Sendable {
    private final class Home: Sendable {
        let store: Store
        init(_ store: Store) { self.store = store }
        deinit { try? store.close() }
    }

    private let home: Home
    /// Goes on by 10 ms with every request.
    let time = ManualTime(microseconds: 1_700_000_000_000_000)
    var user = "anna"
    var device = "phone"
    var scope = InternedName.Scope.private
    /// Of items that name none.
    var zone = "_defaultZone"
    var policy = SavePolicy.ifServerRecordUnchanged
    var isAtomic = true
    var token: [UInt8]?

    init(_ options: StoreOptions = .service) throws {
        let platform = Platform(time: time, random: SeededRandom(seed: 1))
        home = Home(try Store.inMemory(options: options, platform: platform))
    }

    /// A client of a store that is open already, and is closed with the last copy.
    init(of store: Store) { home = Home(store) }

    var store: Store { home.store }
    var actor: Actor { Actor(user: user, device: device) }
    var database: DatabaseID { DatabaseID(scope) }

    /// The same store, asked by somebody else or in another way.
    func with(_ change: (inout Client) -> Void) -> Client {
        var copy = self
        change(&copy)
        return copy
    }

    // MARK: Records

    /// A save of a record. A reference into zone 0 is to a record of the same zone.
    struct Save {
        var name: String
        var zone: String?
        var owner = ""
        var type = "Note"
        var base: Version?
        var parent: String?
        var removesParent = false
        var fields: [(key: String, value: FieldValue?)]

        init(
            _ name: String, _ fields: KeyValuePairs<String, FieldValue?> = [:], in zone: String? = nil,
            owner: String = "", type: String = "Note", base: Version? = nil, parent: String? = nil
        ) {
            self.name = name
            self.zone = zone
            self.owner = owner
            self.type = type
            self.base = base
            self.parent = parent
            self.fields = fields.map { ($0.key, $0.value) }
        }
    }

    struct Deletion: ExpressibleByStringLiteral {
        var name: String
        var zone: String?
        var owner = ""

        init(_ name: String, in zone: String? = nil, owner: String = "") {
            self.name = name
            self.zone = zone
            self.owner = owner
        }

        init(stringLiteral name: String) { self.init(name) }
    }

    func request(_ saves: [Save], deletes: [Deletion] = []) -> Request {
        var names = RequestNames()
        var body = ModifyRecordsRequest(policy: policy, isAtomic: isAtomic, clientToken: token)
        for save in saves {
            let zone = names.ordinal(of: ZoneID(save.zone ?? self.zone, owner: save.owner))
            let parent = save.parent.map { LinkChange.set(RecordKey(zone: zone, name: $0)) }
            body.saves.append(
                .init(
                    RecordKey(zone: zone, name: save.name), type: names.ordinal(ofType: save.type), base: save.base,
                    parent: parent ?? (save.removesParent ? .removed : .kept),
                    fields: save.fields.map { key, value in
                        FieldChange(names.ordinal(ofKey: key), value.map { Self.placed($0, in: zone) })
                    }))
        }
        for delete in deletes {
            let zone = names.ordinal(of: ZoneID(delete.zone ?? self.zone, owner: delete.owner))
            body.deletes.append(RecordKey(zone: zone, name: delete.name))
        }
        return Request(database: database, names: names, .modifyRecords(body))
    }

    private static func placed(_ value: FieldValue, in zone: UInt64) -> FieldValue {
        switch value {
        case .reference(let reference) where reference.target.zone == 0:
            return .reference(.init(RecordKey(zone: zone, name: reference.target.name), action: reference.action))
        case .list(let list):
            return (try? FieldList(list.elements.map { placed($0, in: zone) })).map { .list($0) } ?? value
        default: return value
        }
    }

    /// The answer to a request, a clock's step later. What is not a refusal fails the test.
    func ask(_ request: Request, as actor: Actor? = nil) -> Result<Answer, Refusal> {
        time.advance(byMicroseconds: 10_000)
        do {
            return .success(try store.modify(request, as: actor ?? self.actor))
        } catch let refusal as Refusal {
            return .failure(refusal)
        } catch {
            Issue.record(error, "not a refusal")
            return .failure(Refusal(.internalError, "\(error)"))
        }
    }

    func modify(_ saves: [Save] = [], deletes: [Deletion] = []) -> Result<RequestResult, Refusal> {
        ask(request(saves, deletes: deletes)).map(\.result)
    }

    /// Codes of the items that failed, nil for the others; or that of the whole request alone.
    func codes(_ saves: [Save] = [], deletes: [Deletion] = []) -> [Refusal.Code?] {
        modify(saves, deletes: deletes).codes
    }

    /// Saves one record; returns its version.
    @discardableResult
    func save(
        _ name: String, _ fields: KeyValuePairs<String, FieldValue?> = [:], in zone: String? = nil,
        base: Version? = nil, parent: String? = nil
    ) throws -> Version {
        try #require(try modify([Save(name, fields, in: zone, base: base, parent: parent)]).get().saves.first).get()
    }

    func refusal(_ save: Save) throws -> Refusal {
        try #require(try modify([save]).get().saves.first?.refusal)
    }

    // MARK: Zones

    func zones(
        save: [String] = [], delete: [String] = [], owner: String = "", encryption: EncryptionScope = .record
    ) -> [Refusal.Code?] {
        var names = RequestNames()
        let body = ModifyZonesRequest(
            saves: save.map { .init(names.ordinal(of: ZoneID($0, owner: owner)), encryptionScope: encryption) },
            deletes: delete.map { names.ordinal(of: ZoneID($0, owner: owner)) })
        return ask(Request(database: database, names: names, .modifyZones(body))).map(\.result).codes
    }

    /// Purges a zone of this user, or resets the encrypted data.
    func administer(purging zone: String?) -> [Refusal.Code?] {
        var names = RequestNames()
        let body = zone.map { AdministerRequest.purgeZone(names.ordinal(of: ZoneID($0))) } ?? .resetEncryptedData
        let request = Request(database: DatabaseID(.private, owner: user), names: names, .administer(body))
        return ask(request, as: .service).map(\.result).codes
    }

    // MARK: What is there

    func id(_ name: String, in zone: String? = nil, owner: String = "") -> RecordID {
        RecordID(name, zone: ZoneID(zone ?? self.zone, owner: owner))
    }

    func fetch(_ name: String, in zone: String? = nil, owner: String = "") -> Result<Record, Refusal> {
        do {
            return .success(try store.snapshot().record(id(name, in: zone, owner: owner), in: database, as: actor))
        } catch let refusal as Refusal {
            return .failure(refusal)
        } catch {
            Issue.record(error, "not a refusal")
            return .failure(Refusal(.internalError, "\(error)"))
        }
    }

    func exists(_ name: String, in zone: String? = nil) -> Bool { (try? fetch(name, in: zone).get()) != nil }

    func fields(_ name: String, in zone: String? = nil) throws -> [String: FieldValue] {
        try fetch(name, in: zone).get().fields
    }

    func fetchedZone(_ name: String, owner: String = "") throws -> Zone {
        try store.snapshot().zone(ZoneID(name, owner: owner), in: database, as: actor)
    }
}

extension Result<RequestResult, Refusal> {
    var codes: [Refusal.Code?] {
        switch self {
        case .failure(let refusal): [refusal.code]
        case .success(let result): result.saves.map { $0.refusal?.code } + result.deletes.map { $0?.code }
        }
    }
}

/// A reference to a record of the same zone.
func link(_ name: String, _ action: FieldValue.Reference.Action = .none) -> FieldValue {
    .reference(.init(RecordKey(zone: 0, name: name), action: action))
}

func owner(_ name: String) -> FieldValue { link(name, .deleteSelf) }

func list(_ elements: FieldValue...) throws -> FieldValue { .list(try FieldList(elements)) }

let encrypted = FieldValue.sealed(
    .init(keyID: 1, nonce: Array(repeating: 0, count: 24), ciphertext: Array(repeating: 1, count: 17)))

/// Text of so many characters.
func text(_ count: Int) -> String { String(repeating: "x", count: count) }
