import Glibc
import StrataConnections
import StrataModel
import StrataReplication
import StrataSystem
import TestNeeds
import TestSupport
import Testing

@testable import StrataPostgres

/// The tests with servers, one after the other: some of them stop the servers that all share.
@Suite(
    "A sequencer in PostgreSQL", .serialized, .needs(.libpq), .needs(.postgres))
struct PostgresSequencerTests {
    /// The servers of all tests but those that do not leave them as they were.
    private static let shared: Monitor<PostgresCluster?> = {
        // A static value is never released, and the servers would go on.
        atexit { PostgresSequencerTests.shared.withLock { $0 = nil } }
        return Monitor(nil)
    }()

    static func cluster() throws -> PostgresCluster {
        try shared.withLock { shared throws -> PostgresCluster in
            if let cluster = shared { return cluster }
            let cluster = try PostgresCluster()
            shared = cluster
            return cluster
        }
    }

    private let cluster: PostgresCluster

    init() throws { cluster = try Self.cluster() }

    private let random = SeededRandom(seed: 1)

    private func append(_ entry: [UInt8], _ sequencer: PostgresSequencer, expecting: UInt64) -> SequencerAnswer {
        sequencer.append(entry, id: random.nextIdentifier(), expecting: expecting)
    }

    private func all(_ sequencer: PostgresSequencer, after start: UInt64 = 0) throws -> [[UInt8]] {
        var (read, number) = ([[UInt8]](), start)
        while case let page = try sequencer.entries(after: number, waitingMilliseconds: 0), !page.isEmpty {
            read += page
            number += UInt64(page.count)
        }
        return read
    }

    @Test("Each number is given once, and every process reads the same entries")
    func numbers() throws {
        let address = try cluster.create("numbers")
        let (left, right) = (try PostgresSequencer(address), try PostgresSequencer(address))
        #expect(try left.last() == 0)
        #expect(try right.entries(after: 0, waitingMilliseconds: 0).isEmpty)
        for number in 1...20 as ClosedRange<UInt64> {
            let (writer, other) = number % 2 == 0 ? (left, right) : (right, left)
            let entry = Array("entry \(number)".utf8)
            try #require(append(entry, writer, expecting: number - 1).number == number)
            #expect(append([1], other, expecting: number - 1).isTaken)
            #expect(append([1], other, expecting: number + 1).isTaken)
            #expect(try other.last() == number)
        }
        for reader in [left, right, try PostgresSequencer(address)] {
            #expect(try all(reader) == (1...20).map { Array("entry \($0)".utf8) })
            #expect(try reader.last() == 20)
            reader.close()
        }
    }

    @Test(
        "Requests reach the process that they are for, and the sender knows if there is none", .timeLimit(.minutes(2)))
    func carrying() throws {
        let address = try cluster.create("carrying")
        let (one, other) = (try PostgresSequencer(address), try PostgresSequencer(address))
        let (process, stranger) = (random.nextIdentifier(), random.nextIdentifier())
        func answer(to message: [UInt8]) -> [UInt8]? {
            if case .answer(let bytes) = other.ask(process, message, milliseconds: 10_000) { bytes } else { nil }
        }
        let taken = Lock(0)
        try one.serve(process) { message, answer in
            taken.withLock { $0 += 1 }
            answer(message.reversed())
        }
        #expect(eventually { answer(to: [1, 2, 3]) == [3, 2, 1] })
        #expect(answer(to: []) == [])
        let long = random.nextBytes(count: other.maximumMessageBytes)
        #expect(answer(to: long) == long.reversed())
        #expect(taken.withLock { $0 } == 3)
        guard case .undelivered = other.ask(stranger, [1], milliseconds: 10_000) else {
            Issue.record("somebody took a message for nobody")
            return
        }
        // Answers go both ways, and over a connection that an administrator ended.
        try other.serve(stranger) { message, answer in answer(message) }
        try cluster.primary.sql(
            "select pg_terminate_backend(pid, 10000) from pg_stat_activity where application_name = 'strata'")
        let isAnswered = eventually {
            if case .answer([4]) = one.ask(stranger, [4], milliseconds: 10_000) { true } else { false }
        }
        #expect(isAnswered)
        one.close()
        let isNoticed = eventually {
            if case .undelivered = other.ask(process, [1], milliseconds: 10_000) { true } else { false }
        }
        #expect(isNoticed)
        other.close()
        guard case .undelivered = other.ask(stranger, [1], milliseconds: 10_000) else {
            Issue.record("a closed sequencer carried a message")
            return
        }
    }

    /// Returns the process of the server whose last statement matches a pattern.
    private func backend(after pattern: String) throws -> pid_t? {
        let found = try cluster.primary.sql(
            "select pid from pg_stat_activity where usename = 'app' and query ~ '\(pattern)'")
        return found.first.flatMap { pid_t($0) }
    }

    @Test("A process gives signs of life while its answers wait", .timeLimit(.minutes(3)))
    func signsOfLife() throws {
        let address = try cluster.create("signs")
        let (one, other) = (try PostgresSequencer(address), try PostgresSequencer(address))
        let process = random.nextIdentifier()
        let threads = Monitor<[WorkerThread]>([])
        try one.serve(process) { message, answer in
            let thread = try? WorkerThread(name: "answer") { answer(message) }
            threads.withLock { $0 += [thread].compactMap(\.self) }
        }
        let isAnswered = eventually {
            if case .answer([1]) = other.ask(process, [1], milliseconds: 10_000) { true } else { false }
        }
        try #require(isAnswered)
        // The connection with the answers stands still.
        let stopped = try #require(try backend(after: "''answer "))
        kill(stopped, SIGSTOP)
        defer { kill(stopped, SIGCONT) }
        let answer = Monitor<CarriedAnswer?>(nil)
        let asking = try WorkerThread(name: "ask") {
            let found = other.ask(process, [2], milliseconds: 60_000)
            answer.withLock { $0 = found }
        }
        var signs: Set<String> = []
        let areThere = try eventually {
            signs.formUnion(
                try cluster.primary.sql(
                    "select query_start from pg_stat_activity where usename = 'app' and query ~ '''sign '"))
            return signs.count >= 3 || answer.withLock { $0 != nil }
        }
        kill(stopped, SIGCONT)
        asking.join()
        #expect(areThere && signs.count >= 3)
        guard case .answer([2])? = answer.withLock({ $0 }) else {
            Issue.record("no answer came: \(String(describing: answer.withLock { $0 }))")
            return
        }
        for thread in threads.withLock({ $0 }) { thread.join() }
        for sequencer in [one, other] { sequencer.close() }
    }

    @Test("An answer counts only from the process that was asked", .timeLimit(.minutes(3)))
    func forgedAnswers() throws {
        let address = try cluster.create("answers")
        let (one, other) = (try PostgresSequencer(address), try PostgresSequencer(address))
        let process = random.nextIdentifier()
        let held = Monitor<(@Sendable ([UInt8]) -> Void)?>(nil)
        try one.serve(process) { _, answer in
            held.withLock { $0 = answer }
            held.notifyAll()
        }
        let answer = Monitor<CarriedAnswer?>(nil)
        let asking = try WorkerThread(name: "ask") {
            var found = CarriedAnswer.undelivered
            // The other process may not listen yet.
            while case .undelivered = found { found = other.ask(process, [1], milliseconds: 60_000) }
            answer.withLock { [found] in $0 = found }
        }
        let answering = held.wait { $0 }
        let sessions = "from pg_stat_activity where usename = 'app'"
        let heard = try cluster.primary.sql("select substring(query from 'strata.home.[0-9a-f]+') \(sessions)")
        let asked = "strata.home.\(process)"
        // The request went to one channel; the asker listens on the other.
        let channel = try #require(heard.first { !$0.isEmpty && $0 != asked })
        let numbers = try cluster.primary.sql("select substring(query from '''request ([0-9]+) ') \(sessions)")
        let number = try #require(numbers.first { !$0.isEmpty })
        // Some that guess numbers, and one that knows the number, but did not give the sign of life.
        for number in ["1", "2", "3", number] {
            try notify(channel, "answer \(number) \(random.nextIdentifier()) 0 1 CQ==")
        }
        answering([7])
        asking.join()
        guard case .answer([7])? = answer.withLock({ $0 }) else {
            Issue.record("a forged answer counted: \(String(describing: answer.withLock { $0 }))")
            return
        }
        for sequencer in [one, other] { sequencer.close() }
    }

    @Test("Parts of messages that do not belong together are dropped")
    func parts() throws {
        let bytes = random.nextBytes(count: 30_000)
        let message = PostgresMessage(kind: .request, number: 7, sender: random.nextIdentifier(), bytes: bytes)
        let texts = message.statement(to: random.nextIdentifier()).split(separator: "'").map(String.init)
            .filter { $0.hasPrefix("request") }
        #expect(texts.count == 6 && texts.allSatisfy { $0.utf8.count < 8_000 })
        var collector = PostgresMessage.Collector()
        var complete = texts.compactMap { collector.take($0) }
        #expect(complete.count == 1 && complete.first?.bytes == bytes && complete.first?.number == 7)
        complete = texts.dropFirst().compactMap { collector.take($0) }
        #expect(complete.isEmpty)
        for missing in texts.indices {
            var some = texts
            some.remove(at: missing)
            #expect(some.compactMap { collector.take($0) }.isEmpty)
            some = texts
            some[missing] = "request 8" + some[missing].dropFirst("request 7".count)
            #expect(some.compactMap { collector.take($0) }.isEmpty)
        }
        for text in ["", "17", "request 7", "request 7 zz 0 1 AA==", texts[0] + "="] {
            #expect(collector.take(text) == nil)
        }
        #expect(texts.compactMap { collector.take($0) }.count == 1)
    }

    @Test("Of several that want one number, one gets it")
    func races() async throws {
        let address = try cluster.create("races")
        let won = try await withThrowingTaskGroup(of: [UInt64: [UInt8]].self) { group in
            for writer in 1...4 as ClosedRange<UInt8> {
                group.addTask {
                    let (sequencer, random) = (try PostgresSequencer(address), SeededRandom(seed: UInt64(writer)))
                    var (won, number) = ([UInt64: [UInt8]](), 0 as UInt64)
                    while number < 50 {
                        let entry = [writer, UInt8(number)]
                        switch sequencer.append(entry, id: random.nextIdentifier(), expecting: number) {
                        case .accepted(let accepted): won[accepted] = entry
                        case .taken: break
                        case .unknown(let error), .refused(let error): throw error
                        }
                        number += UInt64(try sequencer.entries(after: number, waitingMilliseconds: 60_000).count)
                    }
                    return won
                }
            }
            return try await group.reduce(into: [UInt64: [UInt8]]()) { all, won in
                all.merge(won) { _, _ in
                    Issue.record("a number was given twice")
                    return []
                }
            }
        }
        let entries = try all(PostgresSequencer(address))
        #expect(entries.count >= 50)
        #expect(entries == won.sorted { $0.key < $1.key }.map(\.value))
    }

    @Test("Entries come in pages of limited length and number")
    func pages() throws {
        let address = try cluster.create("pages", options: "&standbys=0")
        let sequencer = try PostgresSequencer(address, maximumEntryBytes: 3 << 20)
        let long = random.nextBytes(count: 3 << 20)
        for number in 0..<3 as Range<UInt64> {
            try #require(append(long, sequencer, expecting: number).number == number + 1)
        }
        #expect(try sequencer.entries(after: 0, waitingMilliseconds: 0).map(\.count) == [3 << 20, 3 << 20])
        #expect(try sequencer.entries(after: 2, waitingMilliseconds: 0) == [long])
        try cluster.primary.sql(
            """
            insert into strata.pages (number, id, entry)
            select number, gen_random_uuid(), '\\x0102' from generate_series(4, 10004) as number
            """, database: PostgresCluster.database)
        #expect(try sequencer.entries(after: 3, waitingMilliseconds: 0).count == 10_000)
        #expect(try sequencer.entries(after: 10_003, waitingMilliseconds: 0) == [[1, 2]])
        #expect(append(long + [0], sequencer, expecting: 10_004).refusal?.code == .tooLarge)
        #expect(append([1], sequencer, expecting: UInt64(Int64.max)).refusal?.code == .outOfRange)
        #expect(append([1], sequencer, expecting: .max).refusal?.code == .outOfRange)
        #expect(try sequencer.entries(after: .max, waitingMilliseconds: 0).isEmpty)
        // A gap can only come from outside.
        try cluster.primary.sql("delete from strata.pages where number = 2", database: PostgresCluster.database)
        #expect(try sequencer.entries(after: 0, waitingMilliseconds: 0).count == 1)
        let error = try #require(throws: StrataError.self) { try sequencer.entries(after: 1, waitingMilliseconds: 0) }
        #expect(error.code == .brokenSequence && error.context.found == "entry 3")
    }

    @Test("Who waits is woken by another process's entry, and by the end of the sequencer")
    func waking() async throws {
        let address = try cluster.create("waking")
        let (reader, writer) = (try PostgresSequencer(address), try PostgresSequencer(address))
        let read = Monitor<[[UInt8]]>([])
        let thread = try WorkerThread(name: "waiting") {
            var isOpen = true
            while isOpen {
                let count = read.withLock { $0.count }
                let entries = (try? reader.entries(after: UInt64(count), waitingMilliseconds: 600_000)) ?? [[0]]
                isOpen = !entries.isEmpty
                read.withLock { $0 += entries }
            }
            read.withLock { $0.append([9]) }
        }
        for number in 0..<5 as Range<UInt64> {
            try #require(append([UInt8(number)], writer, expecting: number).number == number + 1)
            #expect(eventually { read.withLock { $0.count } == Int(number) + 1 })
        }
        reader.close()
        thread.join()
        #expect(read.withLock { $0 } == [[0], [1], [2], [3], [4], [9]])
        #expect(try reader.entries(after: 5, waitingMilliseconds: 600_000).isEmpty)
        #expect(throws: StrataError.self) { try reader.last() }
        #expect(append([1], reader, expecting: 5).refusal?.code == .closed)
    }

    @Test("An own entry wakes the reader of the same process, and one that nobody announced is found")
    func unannounced() throws {
        let address = try cluster.create("unannounced")
        let sequencer = try PostgresSequencer(address)
        try #require(append([1], sequencer, expecting: 0).number == 1)
        #expect(try sequencer.entries(after: 0, waitingMilliseconds: 600_000) == [[1]])
        try cluster.primary.sql(
            "insert into strata.unannounced values (2, gen_random_uuid(), '\\x02')", database: PostgresCluster.database)
        #expect(try sequencer.entries(after: 1, waitingMilliseconds: 0) == [[2]])
    }

    @Test("Trimming keeps the order, and whoever needs a trimmed entry is told")
    func trimming() throws {
        let address = try cluster.create("trimming")
        let sequencer = try PostgresSequencer(address)
        #expect(try sequencer.trim(through: 5) == 0)
        for number in 0..<5 as Range<UInt64> { _ = append([UInt8(number)], sequencer, expecting: number) }
        #expect(try sequencer.trim(through: 3) == 3)
        #expect(try sequencer.trim(through: 2) == 3)
        #expect(try sequencer.entries(after: 3, waitingMilliseconds: 0) == [[3], [4]])
        for number in 0..<3 as Range<UInt64> {
            let error = try #require(throws: StrataError.self) {
                try sequencer.entries(after: number, waitingMilliseconds: 0)
            }
            #expect(error.code == .outOfRange)
            #expect(append([1], sequencer, expecting: number).isTaken)
        }
        #expect(try sequencer.trim(through: 100) == 5)
        let other = try PostgresSequencer(address)
        #expect(try other.last() == 5)
        #expect(try other.entries(after: 5, waitingMilliseconds: 0).isEmpty)
        #expect(append([1], other, expecting: 4).isTaken)
        #expect(append([1], other, expecting: 6).isTaken)
        #expect(append([7], other, expecting: 5).number == 6)
        #expect(try sequencer.entries(after: 5, waitingMilliseconds: 0) == [[7]])
    }

    @Test("A new copy of a trimmed sequencer begins with its base")
    func joining() throws {
        let address = try cluster.create("joining")
        try TrimmedCopies.check { try PostgresSequencer(address) }
    }

    @Test("An append that began before its number was trimmed does not use it again")
    func trimmingMeanwhile() throws {
        let sequencer = try PostgresSequencer(cluster.create("meanwhile"))
        try #require(append([1], sequencer, expecting: 0).number == 1)
        // The insertion of this entry stops between its look at the table and its own row, until a lock is free.
        try cluster.primary.sql(
            """
            create function strata.wait() returns trigger language plpgsql as
            'begin perform pg_advisory_xact_lock(1); return new; end';
            create trigger wait before insert on strata.meanwhile for each row
            when (new.entry = '\\x63') execute function strata.wait()
            """, database: PostgresCluster.database)
        let holder = try PostgresPrograms.start(
            "psql",
            [
                "-h", "127.0.0.1", "-p", "\(cluster.primary.port)", "-U", "strata", "-d", PostgresCluster.database,
                "-c",
                "select pg_advisory_lock(1)", "-c", "select pg_sleep(600)",
            ], errors: cluster.primary.log)
        func waiting(_ count: Int) throws -> Bool {
            let question = "select count(*) from pg_stat_activity where usename = 'app' and wait_event_type = 'Lock'"
            return try cluster.primary.sql(question) == ["\(count)"]
        }
        let held = "select count(*) from pg_locks where locktype = 'advisory' and granted"
        try #require(try eventually { try cluster.primary.sql(held) == ["1"] })
        let late = try PostgresSequencer(cluster.address(store: "meanwhile"))
        let id = random.nextIdentifier()
        let (lateIsTaken, trimmed) = (Monitor(false), Monitor<UInt64?>(nil))
        let appending = try WorkerThread(name: "append") {
            let isTaken = eventually { late.append([0x63], id: id, expecting: 1).isTaken }
            lateIsTaken.withLock { $0 = isTaken }
        }
        try #require(try eventually { try waiting(1) })
        for number in 1...2 as ClosedRange<UInt64> { _ = append([2], sequencer, expecting: number) }
        let trimming = try WorkerThread(name: "trim") {
            let number = try? sequencer.trim(through: 2)
            trimmed.withLock { $0 = number }
        }
        #expect(try eventually { try waiting(2) })
        try cluster.primary.sql(
            """
            select pg_terminate_backend(pid) from pg_stat_activity
            where query ~ 'pg_sleep' and pid <> pg_backend_pid()
            """)
        holder.kill()
        appending.join()
        trimming.join()
        #expect(lateIsTaken.withLock { $0 })
        #expect(trimmed.withLock { $0 } == 2)
        let numbers = try cluster.primary.sql("select number from strata.meanwhile", database: PostgresCluster.database)
        #expect(numbers == ["3"])
    }

    @Test("A store is created once, and must have been")
    func creating() throws {
        let address = try cluster.create("Created")
        #expect(code { try PostgresSequencer.create(address) } == .alreadyExists)
        #expect(code { _ = try PostgresSequencer(cluster.address(store: "created")) } == .notFound)
        _ = try cluster.create("created")
        _ = try PostgresSequencer(address)
        try cluster.primary.sql("update strata.\"Created.state\" set format = 2", database: PostgresCluster.database)
        #expect(code { _ = try PostgresSequencer(address) } == .newerFormat)
    }

    @Test("Servers that nobody can reach are named")
    func unreachable() throws {
        let address = try ServerAddress(parsing: "postgres://app@127.0.0.1:1,127.0.0.1:2/notes")
        let error = try #require(throws: StrataError.self) { try PostgresSequencer(address, openMilliseconds: 100) }
        #expect(error.code == .unreachable)
        let found = try #require(error.context.found)
        #expect(found.contains("127.0.0.1:1: ") && found.contains("127.0.0.1:2: "))
    }

    @Test("A standby is passed over, and is no server for a store by itself")
    func standby() throws {
        _ = try cluster.create("standby")
        _ = try PostgresSequencer(cluster.address(store: "standby", of: cluster.servers.reversed()))
        let address = try cluster.address(store: "standby", of: cluster.standbys)
        #expect(code { _ = try PostgresSequencer(address, openMilliseconds: 200) } == .unreachable)
    }

    @Test("A server that does not keep the promise is refused, and the setting is named")
    func settings() throws {
        let address = try cluster.create("settings")
        let open = try PostgresSequencer(address)
        var number = try #require(append([1], open, expecting: 0).number)
        let standbys = try cluster.primary.sql("show synchronous_standby_names")[0]
        for (setting, wrong, right) in [
            ("fsync", "off", "on"), ("full_page_writes", "off", "on"), ("synchronous_commit", "local", "on"),
            ("synchronous_standby_names", "", standbys),
        ] {
            try cluster.set(setting, to: wrong)
            let error = try #require(throws: StrataError.self) { try PostgresSequencer(address) }
            #expect(error.code == .unsuitable)
            #expect(try #require(error.context.found).hasPrefix(setting))
            if setting == "synchronous_standby_names" {
                // The sequencer that is open notices it as well.
                #expect(
                    eventually {
                        let answer = append([1], open, expecting: number)
                        number = answer.number ?? number
                        return answer.doubt == .unsuitable
                    })
                #expect(code { _ = try open.last() } == .unsuitable)
                _ = try PostgresSequencer(cluster.address(store: "settings", options: "&standbys=0"))
            }
            try cluster.set(setting, to: right)
        }
        let two = try cluster.address(store: "settings", options: "&standbys=2")
        #expect(code { _ = try PostgresSequencer(two) } == .unsuitable)
        _ = try PostgresSequencer(address)
    }

    // MARK: Faults

    @Test("Connections that are cut are opened again")
    func cuts() throws {
        let address = try cluster.create("cuts")
        let sequencer = try PostgresSequencer(address)
        for number in 0..<5 as Range<UInt64> {
            let answer = append([UInt8(number)], sequencer, expecting: number)
            try #require(answer.number == number + 1)
            #expect(try sequencer.entries(after: number, waitingMilliseconds: 0) == [[UInt8(number)]])
            #expect(try sequencer.last() == number + 1)
            try cluster.primary.sql(
                "select pg_terminate_backend(pid, 10000) from pg_stat_activity where usename = 'app'")
        }
        #expect(try all(sequencer).count == 5)
    }

    @Test("An entry that no standby confirms is unknown and not shown, and settles when one is back")
    func standbysGone() throws {
        let address = try cluster.create("gone")
        let (writer, reader) = (try PostgresSequencer(address), try PostgresSequencer(address))
        try #require(append([1], writer, expecting: 0).number == 1)
        #expect(try reader.entries(after: 0, waitingMilliseconds: 0) == [[1]])
        for standby in cluster.standbys { standby.kill() }
        let id = random.nextIdentifier()
        #expect(writer.append([2], id: id, expecting: 1).doubt == .unreachable)
        #expect(writer.append([2], id: id, expecting: 1).doubt == .unreachable)
        #expect(append([3], writer, expecting: 1).refusal?.code == .unreachable)
        #expect(code { _ = try reader.last() } == .unreachable)
        #expect(try reader.entries(after: 1, waitingMilliseconds: 0).isEmpty)
        try cluster.standbys[0].start()
        #expect(eventually { writer.append([2], id: id, expecting: 1).number == 2 })
        #expect(try reader.entries(after: 1, waitingMilliseconds: 60_000) == [[2]])
        #expect(try reader.last() == 2)
        try cluster.standbys[1].start()
    }

    /// Kills the standbys, and appends an entry whose wait for them is canceled; returns the answer to that.
    private func appendWithoutStandbys(_ id: Identifier, to writer: PostgresSequencer) throws -> SequencerAnswer {
        for standby in cluster.standbys { standby.kill() }
        #expect(writer.append([1], id: id, expecting: 0).doubt == .unreachable)
        try cluster.primary.sql("select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'")
        return writer.append([1], id: id, expecting: 0)
    }

    @Test("An entry whose wait for the standbys was canceled is not shown before they have it")
    func canceledWait() throws {
        let address = try cluster.create("canceled")
        let (writer, reader) = (try PostgresSequencer(address), try PostgresSequencer(address))
        #expect(try reader.entries(after: 0, waitingMilliseconds: 0).isEmpty)
        let id = random.nextIdentifier()
        let answer = try appendWithoutStandbys(id, to: writer)
        #expect(answer.doubt == .unreachable && "\(answer)".contains("synchronous replication"))
        // The canary: anyone else sees the row.
        let rows = try cluster.primary.sql("select count(*) from strata.canceled", database: PostgresCluster.database)
        #expect(rows == ["1"])
        #expect(code { _ = try reader.entries(after: 0, waitingMilliseconds: 0) } == .unreachable)
        #expect(writer.append([1], id: id, expecting: 0).isTaken)
        for standby in cluster.standbys { try standby.start() }
        #expect(eventually { (try? reader.entries(after: 0, waitingMilliseconds: 100)) == [[1]] })
        #expect(try writer.entries(after: 0, waitingMilliseconds: 60_000) == [[1]])
    }

    @Test("An announcement of a role that may not read the entries does not make one safe")
    func forgedAnnouncement() throws {
        let address = try cluster.create("forged")
        let (writer, reader) = (try PostgresSequencer(address), try PostgresSequencer(address))
        #expect(try reader.entries(after: 0, waitingMilliseconds: 0).isEmpty)
        let id = random.nextIdentifier()
        #expect(try appendWithoutStandbys(id, to: writer).doubt == .unreachable)
        for text in ["1", "\(UInt64.max)", "1 \(random.nextIdentifier())", "\(UInt64.max) \(id)"] {
            try notify("strata.forged", text)
        }
        #expect(code { _ = try reader.entries(after: 0, waitingMilliseconds: 0) } == .unreachable)
        for standby in cluster.standbys { try standby.start() }
        #expect(eventually { (try? reader.entries(after: 0, waitingMilliseconds: 100)) == [[1]] })
    }

    /// Sends a notification as a role that may do nothing else.
    private func notify(_ channel: String, _ text: String) throws {
        try cluster.primary.sql(
            "select pg_notify('\(channel)', '\(text)')", database: PostgresCluster.database, user: "stranger")
    }

    @Test("A flood of notifications keeps no one from reading entries, nor from closing", .timeLimit(.minutes(3)))
    func flood() throws {
        let address = try cluster.create("flood")
        let (writer, reader) = (try PostgresSequencer(address), try PostgresSequencer(address))
        let children = try ["'y' || n", "(8000000000 + n)::text"].map { text in
            let statements = """
                do $$ begin loop
                    perform pg_notify('strata.flood', \(text)) from generate_series(1, 10000) as n; commit;
                end loop; end $$
                """
            return try PostgresPrograms.start(
                "psql",
                [
                    "-h", "127.0.0.1", "-p", "\(cluster.primary.port)", "-U", "stranger", "-d",
                    PostgresCluster.database, "-c", statements,
                ], errors: cluster.primary.log)
        }
        let others = "pg_stat_activity where usename = 'stranger'"
        #expect(try eventually { try cluster.primary.sql("select count(*) from \(others)") == ["2"] })
        for number in 0..<5 as Range<UInt64> {
            try #require(append([UInt8(number)], writer, expecting: number).number == number + 1)
            #expect(try reader.entries(after: number, waitingMilliseconds: 60_000) == [[UInt8(number)]])
            #expect(try reader.entries(after: number + 1, waitingMilliseconds: 10).isEmpty)
        }
        for sequencer in [writer, reader] { sequencer.close() }
        #expect(try cluster.primary.sql("select count(*) from \(others)") == ["2"])
        try cluster.primary.sql("select pg_terminate_backend(pid) from \(others)")
        for child in children { child.kill() }
    }

    @Test("A process of an earlier release, which announces numbers alone, wakes a reader", .timeLimit(.minutes(3)))
    func earlierRelease() throws {
        let address = try cluster.create("earlier")
        let reader = try PostgresSequencer(address)
        let entries = Monitor<[[UInt8]]?>(nil)
        let thread = try WorkerThread(name: "waiting") {
            let found = try? reader.entries(after: 0, waitingMilliseconds: 600_000)
            entries.withLock { $0 = found }
        }
        // Both connections have asked for the floor last: the reader did, since there was no entry, and waits.
        let question = "select count(*) from pg_stat_activity where usename = 'app' and query ~ '\"earlier.state\"'"
        #expect(try eventually { try cluster.primary.sql(question) == ["2"] })
        try cluster.primary.sql(
            """
            insert into strata.earlier values (1, gen_random_uuid(), '\\x01');
            select pg_notify('strata.earlier', '1')
            """, database: PostgresCluster.database)
        thread.join()
        #expect(entries.withLock { $0 } == [[1]])
    }

    @Test("A primary that crashes is used again once it runs")
    func restart() throws {
        let address = try cluster.create("restart")
        let (writer, reader) = (try PostgresSequencer(address), try PostgresSequencer(address))
        try #require(append([1], writer, expecting: 0).number == 1)
        #expect(try reader.entries(after: 0, waitingMilliseconds: 0) == [[1]])
        cluster.primary.kill()
        #expect(append([2], writer, expecting: 1).number == nil)
        #expect(throws: StrataError.self) { try reader.entries(after: 1, waitingMilliseconds: 0) }
        try cluster.primary.start()
        #expect(eventually { append([2], writer, expecting: 1).number == 2 })
        #expect(try reader.entries(after: 0, waitingMilliseconds: 60_000) == [[1], [2]])
        #expect(try reader.last() == 2)
    }
}
