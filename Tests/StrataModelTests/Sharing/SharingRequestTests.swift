import TestSupport
import Testing

@testable import StrataModel

@Suite("The encoding of requests that change and join shares")
struct SharingRequestTests {
    private static var change: ShareChange {
        var change = ShareChange(
            root: "list",
            participants: [
                .init("a", .user(recordName: "_1"), role: .administrator, permission: .readWrite),
                .init("b", .address(.email("b@example.com")), role: .privateUser, permission: .readOnly),
                .init("c", .address(.phone("+1 415")), role: .privateUser, permission: .none),
                .init("d", .oneTimeURL, role: .publicUser, permission: .readOnly),
            ], publicPermission: SharePermission.none, allowsAccessRequests: false)
        (change.denied, change.blocked, change.unblocked) = (["_2"], ["_3", "_4"], ["_5"])
        return change
    }

    private static func request(_ change: ShareChange) -> Request {
        var names = RequestNames()
        let zone = names.ordinal(of: ZoneID("Notes"))
        let save = ModifyRecordsRequest.Save(
            RecordKey(zone: zone, name: "Share-1"), type: names.ordinal(ofType: ShareState.recordType), sharing: change)
        return Request(database: DatabaseID(.private), names: names, .modifyRecords(.init(saves: [save])))
    }

    @Test("The changes of a share come back as they were, empty lists and unchanged parts included")
    func roundTrip() throws {
        var changes = [ShareChange(), ShareChange(root: ""), ShareChange(participants: []), Self.change]
        for permission in SharePermission.allCases { changes.append(ShareChange(publicPermission: permission)) }
        for allows in [false, true] { changes.append(ShareChange(allowsAccessRequests: allows)) }
        for change in changes {
            let request = Self.request(change)
            #expect(try Request(decoding: request.encoded()[...]) == request)
        }
        #expect(!ShareChange(root: "list").changesParticipation && Self.change.changesParticipation)
    }

    @Test("A request to join shares comes back as it was")
    func joining() throws {
        for action in [JoinSharesRequest.Action.accept, .requestAccess] {
            for tokens in [[], ["abc", ""], [String(repeating: "a", count: ShareSavedEvent.maximumTokenBytes)]] {
                let request = Request(database: DatabaseID(.shared), .joinShares(.init(action, tokens: tokens)))
                #expect(try Request(decoding: request.encoded()[...]) == request)
            }
        }
        let long = String(repeating: "a", count: ShareSavedEvent.maximumTokenBytes + 1)
        let request = Request(database: DatabaseID(.shared), .joinShares(.init(.accept, tokens: [long])))
        let bytes = try request.encoded()
        #expect(throws: StrataError.self) { try Request(decoding: bytes[...]) }
    }

    @Test("A shape keeps the changes of shares, and says nothing of them if there are none")
    func shapes() throws {
        var shape = RequestShape(.modifyRecords, isAtomic: true, firstItemEvent: 3, saveCount: 4, deleteCount: 1)
        let plain = try shape.encoded()
        shape.consequenceCount = 2
        #expect(try RequestShape(decoding: shape.encoded()[...]) == shape)
        shape.shareChanges = [.init(index: 1, change: Self.change), .init(index: 3, change: ShareChange())]
        #expect(try RequestShape(decoding: shape.encoded()[...]) == shape)
        shape.leaveOut([.init(.deletes, index: 0)], request: Self.request(Self.change))
        #expect(try RequestShape(decoding: shape.encoded()[...]) == shape)
        #expect(plain[2] == 4)
        var empty = plain
        empty[2] |= 8
        empty.insert(contentsOf: [0, 0], at: empty.count - 1)
        #expect(throws: StrataError.self) { try RequestShape(decoding: empty[...]) }
    }

    @Test("Damage is noticed or gives another request, and never traps")
    func damage() throws {
        let join = Request(database: DatabaseID(.shared), .joinShares(.init(.accept, tokens: ["abc", "def"])))
        for request in [Self.request(Self.change), join] {
            let bytes = try request.encoded()
            for index in bytes.indices {
                #expect(throws: StrataError.self) { try Request(decoding: bytes[..<index]) }
                for bit in 0..<8 {
                    var damaged = bytes
                    damaged[index] ^= 1 << bit
                    do { #expect(try Request(decoding: damaged[...]) != request) } catch is StrataError {}
                }
            }
        }
    }
}
