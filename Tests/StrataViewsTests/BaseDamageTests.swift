import StrataModel
import StrataTree
import TestSupport
import Testing

@testable import StrataViews

@Suite("Bases that do not fit")
struct BaseDamageTests {
    private let payloads: [[UInt8]]
    private let horizon: Position

    init() throws {
        let commits = try SampleCommit.all(40, seed: 4)
        let pages = try Views.emptyTrees()
        try pages.fold(commits)
        payloads = try pages.snapshot().base(limits: .init(payloadBytes: 2_000, valueBytes: 60))
        horizon = Position(offset: 40, chain: 7)
    }

    /// The error of folding these payloads, after which nothing can be published.
    private func error(_ payloads: [[UInt8]], at horizon: Position? = nil) throws -> StrataError? {
        let pages = try Views.emptyTrees()
        let fold = Fold(try pages.fork())
        var next = payloads.makeIterator()
        let error = thrownError { try fold.load(base: horizon ?? self.horizon, into: pages) { next.next()?[...] } }
        guard let error else { return nil }
        try #require(thrownError { try fold.publish(to: pages) } != nil)
        try #require(pages.snapshot().trees.isEmpty)
        return error
    }

    private func cause(_ error: StrataError?) -> StrataError? { error?.cause as? StrataError }

    @Test("The sample is folded as it is")
    func good() throws {
        #expect(payloads.count > 20)
        #expect(try error(payloads) == nil)
    }

    @Test("A payload that is missing, repeated, in another place, or another base's")
    func places() throws {
        let other = try {
            let pages = try Views.emptyTrees()
            try pages.fold(try SampleCommit.all(40, seed: 5))
            return try pages.snapshot().base(limits: .init(payloadBytes: 2_000, valueBytes: 60))
        }()
        for index in payloads.indices {
            var missing = payloads
            missing.remove(at: index)
            var repeated = payloads
            repeated.insert(payloads[index], at: index)
            var foreign = payloads
            if index < other.count { foreign[index] = other[index] }
            var swapped = payloads
            if index > 0 { swapped.swapAt(index - 1, index) }
            for (kind, damaged) in [(0, missing), (1, repeated), (2, foreign), (3, swapped)] where damaged != payloads {
                let error = try #require(try error(damaged), "\(kind) at \(index)")
                #expect(error.context.offset == 40 && error.message == "A base cannot be folded.")
                #expect(error.context.found?.hasPrefix("payload ") == true && cause(error) != nil)
            }
        }
        #expect(try cause(error(Array(payloads.dropLast())))?.message == "A base does not end with its marker.")
        #expect(try cause(error([]))?.context.found == "the end")
    }

    @Test("Whatever bit of a payload is wrong, it is noticed")
    func bits() throws {
        let commits = try SampleCommit.all(8, seed: 4)
        let pages = try Views.emptyTrees()
        try pages.fold(commits)
        let payloads = try pages.snapshot().base(limits: .init(payloadBytes: 400, valueBytes: 60))
        let horizon = Position(offset: 8, chain: 7)
        try #require(try error(payloads, at: horizon) == nil)
        var generator = SeededGenerator(seed: 9)
        for index in payloads.indices {
            let isMarker = index == payloads.count - 1
            for byte in payloads[index].indices where isMarker || generator.next(below: 10) == 0 {
                let bit = generator.next(below: 8)
                var damaged = payloads
                damaged[index][byte] ^= 1 << UInt8(bit)
                let error = try error(damaged, at: horizon)
                #expect(error?.context.offset == 8, "payload \(index), byte \(byte), bit \(bit)")
            }
        }
    }

    @Test("The marker says what differs")
    func marker() throws {
        func cause(_ change: (inout BaseMarkerEvent) -> Void) throws -> StrataError? {
            var payloads = payloads
            let last = try #require(payloads.last)
            payloads.removeLast()
            var marker = try BaseMarkerEvent(decoding: Envelope(decoding: last[...]).events[0].body)
            change(&marker)
            return self.cause(try error(payloads + [Envelope(events: [try marker.event()]).encoded()]))
        }
        #expect(try cause { _ in } == nil)
        let cases: [(String, (inout BaseMarkerEvent) -> Void)] = [
            ("horizon", { $0.horizon.offset += 1 }), ("horizon", { $0.horizon.chain += 1 }),
            ("number of payloads", { $0.payloadCount -= 1 }), ("hash of the payloads", { $0.payloadHash &+= 1 }),
            ("digest of the state", { $0.stateDigest &+= 1 }), ("digest of the content", { $0.contentDigest &+= 1 }),
        ]
        for (what, change) in cases {
            let error = try cause(change)
            #expect(error?.code == .brokenChain && error?.context.expected?.hasPrefix(what + " ") == true)
        }
        for horizon in [Position(offset: 41, chain: 7), Position(offset: 40, chain: 8)] {
            let error = self.cause(try error(payloads, at: horizon))
            #expect(error?.context.expected?.hasPrefix("horizon 40/") == true)
        }
        let trees = try Views.emptyTrees()
        let fold = Fold(try trees.fork())
        for offset in [0, Version.maximumOffset + 1] {
            let error = thrownError { try fold.load(base: Position(offset: offset, chain: 7), into: trees) { nil } }
            #expect(error?.code == .outOfRange)
        }
    }

    @Test("Whoever makes the marker fit still does not get another state past the digests")
    func forged() throws {
        // What no digest has is what the hash of the payloads is for.
        for kind in [EventKind.recordSaved, .userChanged, .clientTokenKept, .schemaChanged, .subscriptionSaved] {
            var forged = ForgedBase(payloads: payloads)
            let isForged = try forged.removeFirst(kind)
            let cause = cause(try error(forged.payloads))
            #expect(isForged && cause != nil, "\(kind)")
        }
        var forged = ForgedBase(payloads: payloads)
        let isForged = try forged.change { events in
            // Of a record in several events, the last one decides.
            guard events.count > 1, events[0].kind == .recordSaved,
                try RecordSavedEvent(decoding: events[1].body).isFull
            else { return false }
            var event = try RecordSavedEvent(decoding: events[0].body)
            event.modified = (event.modified ?? 0) + 1
            events[0] = try event.event()
            return true
        }
        #expect(isForged)
        #expect(cause(try error(forged.payloads))?.context.expected?.hasPrefix("digest of the state") == true)
    }

    @Test("Events that have no place in a base, or not that one")
    func order() throws {
        func cause(_ change: @escaping (inout [Event]) throws -> Bool) throws -> String? {
            var forged = ForgedBase(payloads: payloads)
            let isForged = try forged.change(change)
            try #require(isForged)
            return self.cause(try error(forged.payloads))?.message
        }
        let noPlace = "A base has an event of the wrong kind or out of order."
        let deletion = try RecordDeletedEvent(
            RecordKey(zone: 1, name: "a"), type: 1, previous: Version(offset: 1, eventIndex: 0)
        ).event()
        for event in [deletion, Event(.fetched, body: []), Event(.keyChanged, body: [])] {
            #expect(
                try cause { events in
                    events.append(event)
                    return true
                } == noPlace)
        }
        // A name behind what is not a name.
        #expect(
            try cause { events in
                guard events[0].kind != .recordSaved, events.last?.kind != .nameInterned else { return false }
                events.append(InternedName(ordinal: 1, name: .user("anna")).event)
                return true
            } == noPlace)
        let mixed = "A payload of a base contains records and other events."
        let record = try #require(
            try payloads.lazy.map { try Envelope(decoding: $0[...]).events[0] }.first { $0.kind == .recordSaved })
        #expect(
            try cause { events in
                events.append(record)
                return true
            } == mixed)
        #expect(
            try cause { events in
                guard events.count > 1, events.last?.kind == .recordSaved, events[0] != record else { return false }
                events.append(record)
                return true
            } == "The records of a base are not in order.")
        #expect(
            try cause { events in
                guard let last = events.last, last.kind == .recordSaved else { return false }
                guard try RecordSavedEvent(decoding: last.body).isFull else { return false }
                events.append(last)
                return true
            } == "A save does not follow the record's current version.")
        #expect(
            try self.cause(error(payloads + [payloads[0]]))?.message
                == "A base has a payload after its marker.")
        var signed = payloads
        var envelope = try Envelope(decoding: signed[0][...])
        envelope.header.user = 1
        signed[0] = envelope.encoded()
        #expect(
            try self.cause(error(signed))?.message == "A payload of a base has an envelope header that is not empty.")
    }

    @Test("Markers are in bases alone, a base is in empty trees alone, and commits come behind it")
    func neighbours() throws {
        let pages = try Views.emptyTrees()
        let marker = try #require(payloads.last)
        let lonely = thrownError { try pages.fold([SampleCommit(offset: 1, time: 1, payload: marker)]) }
        #expect(lonely?.code == .brokenSequence && lonely?.context.offset == 1)
        try pages.fold(base: payloads, at: horizon)
        #expect(thrownError { try pages.fold(base: payloads, at: horizon) }?.code == .invalidArgument)
        let later = Position(offset: 90, chain: 7)
        #expect(thrownError { try pages.fold(base: payloads, at: later) }?.code == .invalidArgument)
        let audit = Envelope(events: [Event(.consoleActed, body: [1])]).encoded()
        for offset in [39, 40] as [UInt64] {
            let error = thrownError { try pages.fold([SampleCommit(offset: offset, time: 9, payload: audit)]) }
            #expect(error?.code == .brokenSequence)
        }
        try pages.fold([SampleCommit(offset: 41, time: 9, payload: audit)])
        let commit = try Views.emptyTrees()
        try commit.fold([SampleCommit(offset: 1, time: 1, payload: audit)])
        #expect(thrownError { try commit.fold(base: payloads, at: horizon) }?.code == .invalidArgument)
    }

    @Test("An event of an unknown kind is newerFormat in a base, too", arguments: [3, 99, 200])
    func newerKinds(_ number: UInt64) throws {
        var forged = ForgedBase(payloads: payloads)
        let isForged = try forged.change { events in
            events.append(Event(EventKind(rawValue: number), body: [1, 2, 3]))
            return true
        }
        try #require(isForged)
        let error = try error(forged.payloads)
        #expect(error?.code == .newerFormat && cause(error)?.context.found == "event \(number)")
    }

    @Test("An error of who reads the base stays what it is")
    func unreadable() throws {
        let trees = try Views.emptyTrees()
        let fold = Fold(try trees.fork())
        var count = 0
        let found = thrownError {
            try fold.load(base: horizon, into: trees) {
                count += 1
                guard count < 9 else { throw StrataError(.inputOutput, "No more.") }
                return payloads[count - 1][...]
            }
        }
        #expect(found?.code == .inputOutput && found?.message == "No more.")
        #expect(thrownError { try fold.flush() }?.code == .closed)
    }
}

/// What the comparison of whole trees must see.
@Suite("Canary: a base without one of its events")
struct BaseCanaryTests {
    @Test("Whichever kind of event a base lacks, its trees or its digests tell")
    func lacking() throws {
        let pages = try Views.emptyTrees()
        try pages.fold(try SampleCommit.all(120, seed: 7))
        let payloads = try pages.snapshot().base()
        let whole = try ViewDump(TreeStore.folded(base: payloads, at: 120).snapshot())
        for kind in BaseReading.ranks.keys where kind != .baseMarker {
            var forged = ForgedBase(payloads: payloads)
            let isForged = try forged.removeFirst(kind)
            try #require(isForged, "\(kind)")
            let store = try Views.emptyTrees()
            do {
                try store.fold(base: forged.payloads, at: Position(offset: 120, chain: 7))
                #expect(try ViewDump(store.snapshot()) != whole, "\(kind)")
            } catch is StrataError {}
        }
    }
}
