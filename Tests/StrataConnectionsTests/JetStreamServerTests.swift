import StrataConnections
import StrataLog
import StrataModel
import StrataReplication
import StrataSystem
import Synchronization
import TestNeeds
import TestSupport
import Testing

@testable import StrataJetStream

@Suite("A stream of one server", .needs(.natsServer))
struct JetStreamServerTests {
    private let servers: JetStreamServers
    private let options: JetStreamOptions
    private let random = SeededRandom(seed: 1)

    init() throws {
        servers = try JetStreamServers(count: 1)
        options = try servers.stream("notes")
    }

    private func append(_ sequencer: JetStreamSequencer, _ count: Int) throws -> [[UInt8]] {
        let start = try sequencer.last()
        return (0..<count).map { index in
            let entry = random.nextBytes(count: 100)
            let number = start + UInt64(index)
            let answer = sequencer.append(entry, id: random.nextIdentifier(), expecting: number)
            #expect(answer.number == number + 1)
            return entry
        }
    }

    /// Returns entries until there are as many as expected.
    private func read(_ sequencer: JetStreamSequencer, after number: UInt64, count: Int) throws -> [[UInt8]] {
        var entries: [[UInt8]] = []
        let isComplete = try eventually {
            entries += try sequencer.entries(after: number + UInt64(entries.count), waitingMilliseconds: 100)
            return entries.count >= count
        }
        #expect(isComplete)
        return entries
    }

    @Test("Requests reach the process that they are for, and the sender knows if there is none")
    func carrying() throws {
        let (one, other) = (try JetStreamSequencer(options), try JetStreamSequencer(options))
        let (process, stranger) = (random.nextIdentifier(), random.nextIdentifier())
        func answer(to message: [UInt8]) -> [UInt8]? {
            if case .answer(let bytes) = other.ask(process, message, milliseconds: 10_000) { bytes } else { nil }
        }
        try one.serve(process) { message, answer in answer(message.reversed()) }
        #expect(eventually { answer(to: [1, 2, 3]) == [3, 2, 1] })
        let long = random.nextBytes(count: other.maximumMessageBytes)
        #expect(answer(to: long) == long.reversed())
        guard case .undelivered = other.ask(stranger, [1], milliseconds: 10_000) else {
            Issue.record("somebody took a message for nobody")
            return
        }
        one.close()
        let isNoticed = eventually {
            if case .undelivered = other.ask(process, [1], milliseconds: 10_000) { true } else { false }
        }
        #expect(isNoticed)
        other.close()
    }

    /// libnats 3.4 has released its lock while it copies a message, and then uses the subscription.
    @Test("A subscription can end while messages arrive for it")
    func endingSubscriptions() throws {
        let library = try NATSLibrary.shared()
        let (one, other) = (try NATSConnection(library, options), try NATSConnection(library, options))
        let long = random.nextBytes(count: 200_000)
        let isOver = Atomic(false)
        let thread = try WorkerThread(name: "publishing") {
            while !isOver.load(ordering: .relaxed) { try? other.publish(long, to: "busy", reply: nil) }
        }
        defer {
            isOver.store(true, ordering: .relaxed)
            thread.join()
        }
        for round in 0..<3_000 {
            let subscription = try one.subscribe(to: "busy")
            let message = try #require(try subscription.next(milliseconds: 30_000))
            #expect(message.byteCount == long.count)
            if round % 100 == 0 { _ = try one.request("$JS.API.INFO", [], milliseconds: 30_000) }
        }
        one.close()
        other.close()
    }

    @Test("The first entry, its repetition and another one after the same")
    func answers() throws {
        let (one, other) = (try JetStreamSequencer(options), try JetStreamSequencer(options))
        #expect(try one.last() == 0)
        #expect(try one.entries(after: 0, waitingMilliseconds: 0) == [])
        let ids = (0..<3).map { _ in random.nextIdentifier() }
        #expect(one.append([1], id: ids[0], expecting: 0).number == 1)
        // A single server compares the number before it looks for the ID.
        #expect(one.append([1], id: ids[0], expecting: 0).isTaken)
        #expect(one.append([1], id: ids[0], expecting: 1).number == 1)
        #expect(other.append([2], id: ids[1], expecting: 0).isTaken)
        #expect(other.append([2], id: ids[1], expecting: 1).number == 2)
        #expect(other.append([3], id: ids[2], expecting: 3).isTaken)
        #expect(try one.last() == 2)
        #expect(try read(one, after: 0, count: 2) == [[1], [2]])
        #expect(try read(other, after: 1, count: 1) == [[2]])
    }

    @Test("A new copy of a trimmed sequencer begins with its base")
    func joining() throws { try TrimmedCopies.check { try JetStreamSequencer(options) } }

    @Test("An entry of the maximum length is accepted, a longer one refused")
    func lengths() throws {
        let sequencer = try JetStreamSequencer(options)
        #expect(sequencer.maximumEntryBytes == (1 << 20) - JetStreamSequencer.headerBytes)
        let longest = random.nextBytes(count: sequencer.maximumEntryBytes)
        #expect(sequencer.append(longest, id: random.nextIdentifier(), expecting: 0).number == 1)
        #expect(try read(sequencer, after: 0, count: 1) == [longest])
        let refused = sequencer.append(longest + [0], id: random.nextIdentifier(), expecting: 1)
        #expect(refused.refusal?.code == .tooLarge)
        #expect(try sequencer.last() == 1)
    }

    @Test("More entries than one page holds come in order, to two readers, from any number on")
    func pages() throws {
        let sequencer = try JetStreamSequencer(options)
        let entries = try append(sequencer, 5_000)
        #expect(try read(sequencer, after: 0, count: 5_000) == entries)
        #expect(try read(sequencer, after: 4_990, count: 10) == Array(entries.suffix(10)))
        #expect(try read(JetStreamSequencer(options), after: 2_500, count: 2_500) == Array(entries.suffix(2_500)))
    }

    @Test("More bytes than the server sends at once come, though nothing was read for a while")
    func flowControl() throws {
        let sequencer = try JetStreamSequencer(options)
        _ = try sequencer.entries(after: 0, waitingMilliseconds: 0)
        let entry = random.nextBytes(count: 1_000_000)
        for number in 0..<100 as Range<UInt64> {
            #expect(sequencer.append(entry, id: random.nextIdentifier(), expecting: number).number == number + 1)
        }
        let entries = try read(sequencer, after: 0, count: 100)
        #expect(entries.count == 100 && entries.allSatisfy { $0 == entry })
    }

    @Test("Trimming removes up to a number, and no further than the last")
    func trimming() throws {
        let sequencer = try JetStreamSequencer(options)
        let entries = try append(sequencer, 10)
        let other = try JetStreamSequencer(options)
        #expect(try read(other, after: 0, count: 10) == entries)
        #expect(try sequencer.trim(through: 4) == 4)
        #expect(try sequencer.trim(through: 2) == 4)
        #expect(code { _ = try sequencer.entries(after: 3, waitingMilliseconds: 0) } == .outOfRange)
        #expect(try read(sequencer, after: 4, count: 6) == Array(entries[4...]))
        #expect(try sequencer.trim(through: .max) == 10)
        #expect(try sequencer.last() == 10)
        #expect(code { _ = try sequencer.entries(after: 9, waitingMilliseconds: 0) } == .outOfRange)
        _ = try append(sequencer, 1)
        #expect(try read(other, after: 10, count: 1).count == 1)
        #expect(code { _ = try JetStreamSequencer(options).entries(after: 0, waitingMilliseconds: 0) } == .outOfRange)
    }

    @Test("Closing wakes a thread that waits; later calls fail")
    func closing() throws {
        let sequencer = try JetStreamSequencer(options)
        let (waiting, result) = (Monitor(false), Monitor([[UInt8]]?.none))
        let worker = try WorkerThread(name: "waiter") {
            waiting.withLock { $0 = true }
            let entries = try? sequencer.entries(after: 0, waitingMilliseconds: 60_000)
            result.withLock { $0 = entries }
        }
        #expect(eventually { waiting.withLock { $0 } })
        let start = ContinuousClock.now
        sequencer.close()
        worker.join()
        #expect(start.duration(to: .now) < .seconds(30))
        #expect(result.withLock { $0 } == [])
        #expect(try sequencer.entries(after: 0, waitingMilliseconds: 0) == [])
        #expect(code { _ = try sequencer.last() } == .closed)
        #expect(sequencer.append([1], id: random.nextIdentifier(), expecting: 0).refusal?.code == .closed)
    }

    @Test("A connection that was cut, and a server that was killed, are only a pause")
    func restart() throws {
        let sequencer = try JetStreamSequencer(options)
        var entries = try append(sequencer, 3)
        #expect(try read(sequencer, after: 0, count: 3) == entries)
        servers.kill(0)
        try servers.start(0)
        entries += try append(sequencer, 2)
        #expect(try read(sequencer, after: 3, count: 2) == Array(entries[3...]))
        #expect(try sequencer.last() == 5)
    }

    @Test("While no server runs, an entry is refused, since it never left")
    func noServer() throws {
        var options = options
        options.patienceMilliseconds = 100
        let sequencer = try JetStreamSequencer(options)
        servers.kill(0)
        // The first may leave before the connection is known to be gone.
        var answers: [SequencerAnswer] = []
        let isRefused = eventually {
            answers.append(sequencer.append([1], id: random.nextIdentifier(), expecting: 0))
            return answers.last?.refusal != nil
        }
        #expect(isRefused && answers.dropLast().allSatisfy(\.isUnknown))
        #expect(answers.last?.refusal?.code == .unreachable)
        #expect(code { _ = try sequencer.last() } == .unreachable)
        #expect(code { _ = try sequencer.entries(after: 0, waitingMilliseconds: 0) } == .unreachable)
    }

    @Test("A log notices a stream that was made again")
    func lostEntries() throws {
        let log = try ReplicatedLog.open(
            at: servers.directory.path("Notes.strata"), sequencer: JetStreamSequencer(options))
        _ = try AppendHistory.write(5, to: log, seed: 1)
        try servers.ask("STREAM.DELETE.notes", "{}", options)
        #expect(try JetStreamSequencer.create(options))
        #expect(code { _ = try log.confirmEnd() } == .brokenSequence)
        try log.close()
    }

    @Test("Creating a stream again is told apart from other settings and from too few servers")
    func creating() throws {
        #expect(try !JetStreamSequencer.create(options))
        let json = #"{"name":"other","subjects":["strata.other"],"storage":"memory"}"#
        try servers.ask("STREAM.CREATE.other", json, options)
        #expect(code { _ = try JetStreamSequencer.create(servers.options("other")) } == .alreadyExists)
        let error = try #require(throws: StrataError.self) {
            let address = try ServerAddress(parsing: options.address + "3?replicas=3")
            try JetStreamSequencer.create(JetStreamOptions(address))
        }
        #expect(error.code == .unsuitable && error.description.contains("fewer replicas"))
    }

    @Test("A stream that is missing, keeps too little, or is kept by too few servers is refused")
    func refusedStreams() throws {
        func refusal(_ options: JetStreamOptions) throws -> String {
            let error = try #require(throws: StrataError.self) { _ = try JetStreamSequencer(options) }
            #expect(error.code == .unsuitable)
            return error.description
        }
        #expect(try refusal(servers.options("none")).contains("strata create"))
        let json = #"{"name":"other","subjects":["strata.other"],"storage":"memory","max_msgs":1000}"#
        try servers.ask("STREAM.CREATE.other", json, options)
        let found = try refusal(servers.options("other"))
        for setting in ["storage: file", "max_msgs: -1", "deny_delete: true", "discard: new"] {
            #expect(found.contains(setting))
        }
        let address = try ServerAddress(parsing: options.address)
        #expect(try refusal(JetStreamOptions(address)).contains("num_replicas: an odd number from 3"))
    }

    @Test("A stream whose settings change is noticed by the next question")
    func changedSettings() throws {
        let sequencer = try JetStreamSequencer(options)
        var settings = StreamSettings(options)
        settings.maximumMessages = 10
        let json = String(decoding: try JetStreamAPI.encode(settings), as: UTF8.self)
        try servers.ask("STREAM.UPDATE.notes", json, options)
        let error = try #require(throws: StrataError.self) { try sequencer.last() }
        #expect(error.code == .unsuitable && error.description.contains("max_msgs: 10"))
    }
}

@Suite("Servers that a store cannot use", .needs(.natsServer))
struct JetStreamRefusalTests {
    @Test("A server without JetStream")
    func withoutJetStream() throws {
        let servers = try JetStreamServers(count: 1, hasJetStream: false)
        let error = try #require(throws: StrataError.self) { _ = try JetStreamSequencer(servers.options("notes")) }
        #expect(error.code == .unsuitable && error.description.contains("JetStream is not enabled"))
    }

    @Test("A server that wants another password, and one that asks for none where TLS is wanted")
    func accounts() throws {
        let servers = try JetStreamServers(
            count: 1, settings: "authorization { users: [{ user: anna, password: \"pass word\" }] }")
        let right = try servers.options("notes", account: "anna:pass%20word@")
        #expect(eventually { (try? JetStreamSequencer.create(right)) != nil })
        #expect(try JetStreamSequencer(right).last() == 0)
        for account in ["", "anna:wrong@", "ben:pass%20word@"] {
            let error = try #require(throws: StrataError.self) {
                _ = try JetStreamSequencer(servers.options("notes", account: account))
            }
            #expect(error.code == .unsuitable && error.description.contains("credentials"))
            #expect(!error.description.contains("wrong@") && !error.description.contains("pass"))
        }
    }

    @Test("A server without TLS where TLS is wanted")
    func plainServer() throws {
        let servers = try JetStreamServers(count: 1)
        let options = try servers.stream("notes")
        let address = try ServerAddress(
            parsing: options.address.replacing("nats://", with: "tls://") + "?replicas=1")
        let error = try #require(throws: StrataError.self) { _ = try JetStreamSequencer(JetStreamOptions(address)) }
        #expect(error.code == .unsuitable)
    }

    @Test("A server that does not run is named once the deadline has passed")
    func noServer() throws {
        var options = try JetStreamOptions(ServerAddress(parsing: "nats://127.0.0.1:1,localhost:2/notes"))
        options.openMilliseconds = 300
        let error = try #require(throws: StrataError.self) { _ = try JetStreamSequencer(options) }
        #expect(error.code == .unreachable && error.description.contains("127.0.0.1:1,localhost:2"))
    }
}
