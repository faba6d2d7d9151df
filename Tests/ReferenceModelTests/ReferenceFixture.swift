import StrataModel

@testable import ReferenceModel

/// A store with short ways to ask it things.
struct ReferenceFixture {
    static let userRecordName: @Sendable (String) -> String = { "_user-\($0)" }

    var store: ReferenceStore
    var time: Int64 = 1_000_000
    var user = "ada"
    var device = "phone"
    var scope = InternedName.Scope.private
    var policy = SavePolicy.ifServerRecordUnchanged
    var isAtomic = true
    var token: [UInt8]?
    /// The user whose zones are meant; nil for the actor.
    var sharer: String?

    init(_ limits: ReferenceLimits = .service, mutation: ReferenceStore.Mutation? = nil) {
        store = ReferenceStore(limits: limits, mutation: mutation, userRecordName: Self.userRecordName)
    }

    /// A save, of the default zone if none is named.
    struct Save {
        var name: String
        var zone = "_defaultZone"
        var type = "Note"
        var base: Version?
        var parent: String?
        var fields: [(String, FieldValue?)] = []
        var share: String?
        var sharing: ShareChange?
    }

    func zone(_ name: String) -> ZoneID { ZoneID(name, owner: sharer.map(Self.userRecordName) ?? "") }

    mutating func ask(_ request: Request) -> Result<RequestResult, Refusal> {
        time += 10_000
        do throws(Refusal) {
            return .success(try store.modify(request, as: Actor(user: user, device: device), time: time))
        } catch { return .failure(error) }
    }

    mutating func modify(_ saves: [Save], deletes: [(String, String)] = []) -> Result<RequestResult, Refusal> {
        var names = RequestNames()
        var content = ModifyRecordsRequest(policy: policy, isAtomic: isAtomic, clientToken: token)
        for save in saves {
            let zone = names.ordinal(of: self.zone(save.zone))
            let key = RecordKey(zone: zone, name: save.name)
            let parent = save.parent.map { LinkChange.set(RecordKey(zone: zone, name: $0)) } ?? .kept
            content.saves.append(
                .init(
                    key, type: names.ordinal(ofType: save.type), base: save.base, parent: parent,
                    share: save.share.map { .set(RecordKey(zone: zone, name: $0)) } ?? .kept,
                    fields: save.fields.map { FieldChange(names.ordinal(ofKey: $0.0), $0.1) }, sharing: save.sharing))
        }
        for (zone, name) in deletes {
            content.deletes.append(RecordKey(zone: names.ordinal(of: self.zone(zone)), name: name))
        }
        return ask(Request(database: DatabaseID(scope), names: names, .modifyRecords(content)))
    }

    /// Codes of the items that failed, nil for the others; or that of the whole request alone.
    mutating func codes(_ saves: [Save], deletes: [(String, String)] = []) -> [Refusal.Code?] {
        Self.codes(of: modify(saves, deletes: deletes))
    }

    static func codes(of result: Result<RequestResult, Refusal>) -> [Refusal.Code?] {
        switch result {
        case .failure(let refusal): [refusal.code]
        case .success(let result):
            result.saves.map {
                if case .failure(let refusal) = $0 { refusal.code } else { nil }
            } + result.deletes.map { $0?.code }
        }
    }

    mutating func zones(
        save: [String] = [], delete: [String] = [], scope encryption: EncryptionScope = .record, owner: String = ""
    ) -> Result<RequestResult, Refusal> {
        var names = RequestNames()
        let content = ModifyZonesRequest(
            saves: save.map { .init(names.ordinal(of: ZoneID($0, owner: owner)), encryptionScope: encryption) },
            deletes: delete.map { names.ordinal(of: ZoneID($0, owner: owner)) })
        return ask(Request(database: DatabaseID(scope), names: names, .modifyZones(content)))
    }

    mutating func administer(purging zone: String?) -> Result<RequestResult, Refusal> {
        var names = RequestNames()
        let content = zone.map { AdministerRequest.purgeZone(names.ordinal(of: ZoneID($0))) } ?? .resetEncryptedData
        let request = Request(database: DatabaseID(.private, owner: user), names: names, .administer(content))
        do throws(Refusal) {
            return .success(try store.modify(request, as: .service, time: time))
        } catch { return .failure(error) }
    }

    func record(_ name: String, in zone: String = "_defaultZone") -> ReferenceRecord? {
        let database = DatabaseID(scope, owner: scope == .public ? "" : user)
        return store.state.databases[database]?.zones[ReferenceName(zone)]?.records[ReferenceName(name)]
    }
}

func reference(_ name: String, _ action: FieldValue.Reference.Action = .deleteSelf) -> FieldValue {
    .reference(.init(RecordKey(zone: 1, name: name), action: action))
}

let encrypted = FieldValue.sealed(
    .init(keyID: 1, nonce: Array(repeating: 0, count: 24), ciphertext: Array(repeating: 1, count: 17)))
