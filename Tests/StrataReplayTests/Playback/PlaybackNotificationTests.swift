import StrataModel
import StrataSystem
import TestSupport
import Testing

@testable import StrataStore

/// What devices are told by a playback, against what they were told when it was news.
@Suite("Notifications that are played again", .timeLimit(.minutes(3)))
struct PlaybackNotificationTests {
    /// Users with several devices that write, subscribe and are told.
    private struct World {
        static let devices = ["anna", "bert"].flatMap { user in
            ["phone", "tablet"].map { Actor(user: user, device: $0) }
        }
        let fixture: RerunFixture
        private var random: SeededGenerator
        private var made = 0

        init(seed: UInt64, at path: String?) throws {
            fixture = try RerunFixture(at: path)
            random = SeededGenerator(seed: seed)
            for device in Self.devices {
                try fixture.modify(.zones(saving: [RerunFixture.notes]), as: device)
                try fixture.save("begin-\(device.device)", [:], as: device)
            }
        }

        mutating func step() throws {
            let device = Self.devices[random.next(below: Self.devices.count)]
            let scope: InternedName.Scope = random.next(below: 4) == 0 ? .public : .private
            if random.next(below: 4) == 0 { return try subscribe(device, scope) }
            var builder = RequestBuilder(DatabaseID(scope), policy: .allKeys)
            let zone = scope == .public ? ZoneID("_defaultZone") : RerunFixture.notes
            for _ in 0...random.next(below: 2) {
                let id = RecordID("\(device.user)-\(random.next(below: 6))", zone: zone)
                if random.next(below: 5) == 0 {
                    builder.delete(id)
                } else {
                    builder.save(id, type: "Note", fields: ["rank": .int64(Int64(random.next(below: 9)))])
                }
            }
            try fixture.modify(builder.request, as: device)
        }

        private mutating func subscribe(_ device: Actor, _ scope: InternedName.Scope) throws {
            let id = "s\(random.next(below: 4))"
            if random.next(below: 4) == 0 {
                try fixture.modify(.subscriptions(deleting: [id], in: DatabaseID(scope)), as: device)
                return
            }
            made += 1
            var info = NotificationInfo()
            info.desiredKeys = ["rank"]
            info.alertBody = "\(made)"
            info.shouldBadge = random.next(below: 2) == 0
            let kind: Subscription.Kind = scope == .public || random.next(below: 3) > 0 ? .query : .database
            var options = Subscription.Options(rawValue: UInt64(1 + random.next(below: 7)))
            if random.next(below: 3) == 0 { options.insert(.once) }
            let predicates = ["rank > 4", "rank <= 3", "rank = 4", "TRUEPREDICATE"]
            let subscription = NamedSubscription(
                id, kind, recordType: kind == .query ? "Note" : nil,
                predicate: kind == .query ? predicates[random.next(below: 4)] : "",
                options: kind == .query ? options : [], notification: info)
            try fixture.modify(.subscriptions(saving: [subscription], in: DatabaseID(scope)), as: device)
        }
    }

    /// What a device was told, and by which commit.
    private struct Told: Equatable {
        var version: Version
        var text: String
        var badge: UInt64?

        init(_ push: Push) {
            let rank = push.fields["rank"].map { "\($0)" } ?? "-"
            version = push.version
            text = "\(push.id) \(push.subject) \(rank) \(push.notification?.alertBody ?? "")"
            badge = push.badge
        }
    }

    private static func drain(_ boxes: [Actor: PushQueue], _ told: inout [Actor: [Told]]) {
        for (device, box) in boxes {
            while let push = box.takeWaiting() { told[device, default: []].append(Told(push)) }
        }
    }

    /// Subscriptions that fire for the same event do so in any order.
    private static func sorted(_ told: some Sequence<Told>) -> [String] {
        told.sorted { ($0.version, $0.text) < ($1.version, $1.text) }.map(\.text)
    }

    @Test("Each device is told what it was told then, at whatever commit it begins", arguments: [true, false])
    func seeded(isOnDisk: Bool) throws {
        try withSeeds(4) { seed in
            let directory = try TestDirectory()
            var world = try World(seed: seed, at: isOnDisk ? directory.path("Notes.strata") : nil)
            let store = world.fixture.store
            var boxes: [Actor: PushQueue] = [:]
            for device in World.devices { boxes[device] = try store.listen(as: device) }
            store.awaitNotifications()
            let first = store.offset
            var told: [Actor: [Told]] = [:]
            var counts: [(offset: UInt64, told: [Actor: Int])] = []
            for _ in 0..<150 {
                counts.append((store.offset, told.mapValues(\.count)))
                try world.step()
                store.awaitNotifications()
                Self.drain(boxes, &told)
            }
            #expect(told.count == World.devices.count && told.values.joined().count > 50, "seed \(seed)")
            for box in boxes.values { box.close() }
            for (offset, before) in [(first, [:]), counts[50], counts[101]] {
                let playback = try Playback(of: store, from: offset)
                var again: [Actor: [Told]] = [:]
                var boxes: [Actor: PushQueue] = [:]
                for device in World.devices { boxes[device] = try playback.store.listen(as: device) }
                while try playback.step() != nil { Self.drain(boxes, &again) }
                for device in World.devices {
                    let expected = (told[device] ?? []).dropFirst(before[device] ?? 0)
                    let found = again[device] ?? []
                    #expect(Self.sorted(found) == Self.sorted(expected), "seed \(seed), \(device) from \(offset)")
                    // Further on it begins with what had been noted of the device.
                    if offset == first { #expect(found.compactMap(\.badge) == expected.compactMap(\.badge)) }
                }
                try playback.close()
            }
        }
    }

    @Test("A device that listens later is told first of what was played, and of nothing twice")
    func late() throws {
        let fixture = try RerunFixture()
        var info = NotificationInfo()
        info.shouldBadge = true
        let made = NamedSubscription(
            "made", .query, recordType: "Note", predicate: "TRUEPREDICATE", options: .creation, notification: info)
        try fixture.save("begin", [:], as: RerunFixture.bert)
        try fixture.modify(.subscriptions(saving: [made], in: RerunFixture.database))
        let first = fixture.store.offset
        for name in ["a", "b", "c", "d"] { try fixture.save(name, [:], as: RerunFixture.bert) }
        // The live device hears of it all, which is no matter of the playback's.
        let live = try fixture.store.listen(as: RerunFixture.anna)
        fixture.store.awaitNotifications()
        while live.takeWaiting() != nil {}
        live.close()
        fixture.store.awaitNotifications()
        let playback = try Playback(of: fixture.store, from: first)
        try playback.step()
        try playback.step()
        func listen() throws -> PushQueue {
            let box = try playback.store.listen(as: RerunFixture.anna)
            playback.store.awaitNotifications()
            return box
        }
        let box = try listen()
        #expect(box.takeWaiting()?.badge == 1)
        box.close()
        playback.store.awaitNotifications()
        try playback.step()
        // What was not taken comes once more, and the number goes on.
        let again = try listen()
        #expect([again.takeWaiting()?.badge, again.takeWaiting()?.badge, again.takeWaiting()?.badge] == [2, 3, nil])
        try playback.step()
        #expect(again.takeWaiting()?.badge == 4)
        #expect(throws: Refusal.self) { try playback.store.listen(as: Actor(user: "", device: "")) }
        try playback.close()
        #expect(again.isClosed)
        // Nothing of it got into the store.
        #expect(try fixture.store.listen(as: RerunFixture.anna).takeWaiting() == nil)
    }
}
