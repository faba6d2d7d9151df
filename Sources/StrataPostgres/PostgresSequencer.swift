import StrataConnections
import StrataModel
import StrataReplication
import StrataSystem

/// A sequencer in a table of a PostgreSQL database, whose primary key is the entry's number. A commit is acknowledged
/// once standby servers have it.
///
/// ```swift
/// let address = try ServerAddress(parsing: "postgres://strata@p1,p2,p3/notes?authority=/etc/strata/ca.pem")
/// try PostgresSequencer.create(address)
/// let log = try ReplicatedLog.open(at: "Notes.strata", sequencer: try PostgresSequencer(address))
/// ```
/// PostgreSQL shows a row before its standbys have it if the wait for them was canceled, or if the primary crashed
/// during the wait. No entry is given to a reader in that state: the server to which the reader is connected must have
/// confirmed it, by acknowledging it to its writer, which then announces its number and ID, or by a later commit that
/// the reader waits for.
package final class PostgresSequencer: RequestCarrier {
    private struct Appending {
        let link: PostgresLink
        /// The append whose answer is still to come.
        var pending: (id: Identifier, expecting: UInt64)?
    }

    private struct Following {
        let link: PostgresLink
        var announcements = Announcements()

        /// Returns true if there may be an entry after `number`.
        mutating func takeAnnouncements(after number: UInt64) -> Bool {
            let texts = link.notifications(atMost: Announcements.maximumCount)
            return announcements.add(texts, of: link.identity, after: number)
        }
    }

    /// Entries that a server shows, with their IDs.
    private struct Page {
        var entries: [[UInt8]] = []
        var ids: [Identifier] = []
    }

    /// The entries that standbys have, as far as one server has said.
    private struct Confirmed {
        var server: String?
        var number: UInt64 = 0
    }

    private static let workTime = Duration.seconds(10)
    private static let answerTime = Duration.seconds(2)
    /// The time in which a page of entries must come.
    private static let pageTime = Duration.seconds(5)
    /// The time in which the writer of an entry usually announces it.
    private static let announceTime = Duration.milliseconds(10)

    package let maximumEntryBytes: Int
    private let options: PostgresOptions
    private let tables: PostgresTables
    private let closing: SocketSignal
    /// Set when this process appended an entry.
    private let news: SocketSignal
    private let appending: Lock<Appending>
    private let following: Lock<Following>
    private let asking: Lock<PostgresLink>
    private let confirmed = Lock(Confirmed())
    private let mail: PostgresMail

    /// Connects to the store's servers.
    ///
    /// - Throws: `.unreachable` after `openMilliseconds`, `.notFound` if the store was not created, `.unsuitable` if a
    ///   setting of the primary does not keep the store's promise.
    package init(
        _ address: ServerAddress, maximumEntryBytes: Int = 8 << 20, openMilliseconds: Int = 10_000
    ) throws {
        let options = try PostgresOptions(address)
        let library = try PQLibrary.load()
        let closing = try SocketSignal()
        self.options = options
        self.maximumEntryBytes = maximumEntryBytes
        self.closing = closing
        news = try SocketSignal()
        tables = PostgresTables(store: options.store)
        appending = Lock(Appending(link: PostgresLink(options, library, closing: closing)))
        following = Lock(
            Following(
                link: PostgresLink(options, library, closing: closing, listeningOn: [tables.channel])))
        asking = Lock(PostgresLink(options, library, closing: closing))
        mail = try PostgresMail(options, library, closing: closing)
        try asking.withLock { try $0.connect(until: .now + .milliseconds(openMilliseconds)) }
    }

    /// Makes the tables of a store in the database that the address names.
    ///
    /// - Throws: `.alreadyExists` if there is such a store.
    package static func create(_ address: ServerAddress) throws {
        let options = try PostgresOptions(address)
        let tables = PostgresTables(store: options.store)
        let link = PostgresLink(options, try PQLibrary.load(), closing: try SocketSignal(), createsTables: true)
        let deadline = ContinuousClock.now + workTime
        guard try link.ask(tables.existence, until: deadline).text(0, 0) != "t" else {
            throw StrataError(
                .alreadyExists, "The database has a store with that name; open it, or name another one.",
                .init(path: options.description))
        }
        let hasSchema = try link.ask(PostgresTables.schemaExistence, until: deadline).text(0, 0) == "t"
        _ = try link.ask(tables.creation(withSchema: !hasSchema), until: deadline)
    }

    package func close() {
        closing.set()
        appending.withLock { $0.link.drop() }
        following.withLock { $0.link.drop() }
        asking.withLock { $0.drop() }
        mail.close()
    }

    // MARK: Carrying requests

    package var maximumMessageBytes: Int { PostgresMessage.maximumBytes }

    package func serve(
        _ process: Identifier, _ body: @escaping @Sendable ([UInt8], @escaping Answering) -> Void
    ) throws { try mail.serve(process, body) }

    package func ask(_ process: Identifier, _ message: [UInt8], milliseconds: Int) -> CarriedAnswer {
        mail.ask(process, message, milliseconds: milliseconds)
    }

    // MARK: Appending

    package func append(_ entry: [UInt8], id: Identifier, expecting: UInt64) -> SequencerAnswer {
        guard entry.count <= maximumEntryBytes else {
            return .refused(
                StrataError(
                    .tooLarge, "The entry is longer than the sequencer allows.",
                    .init(
                        path: options.description, expected: "at most \(maximumEntryBytes) bytes",
                        found: "\(entry.count)")))
        }
        guard expecting < UInt64(Int64.max) else {
            return .refused(
                StrataError(
                    .outOfRange, "The sequencer has no more numbers.",
                    .init(path: options.description, found: "\(expecting)")))
        }
        return appending.withLock { state in
            let deadline = ContinuousClock.now + Self.answerTime
            if let answer = answer(toEarlier: &state, id, expecting, until: deadline) { return answer }
            do { try state.link.connect(until: deadline) } catch {
                return .refused(Self.described(error, at: options))
            }
            let values = [Self.bytes(expecting), Self.bytes(id.high) + Self.bytes(id.low), entry]
            guard state.link.send(.append, values) else { return .unknown(lostError) }
            guard case .answer(let answer) = state.link.receive(until: deadline) else {
                state.pending = (id, expecting)
                return .unknown(state.link.lateError)
            }
            return outcome(of: answer, to: id, state.link)
        }
    }

    /// Waits further for the answer to an earlier append. A statement that waits for standbys is never canceled, since
    /// it would be executed without them, and a second one would only wait too.
    ///
    /// Returns nil if the entry is to be sent.
    private func answer(
        toEarlier state: inout Appending, _ id: Identifier, _ expecting: UInt64,
        until deadline: ContinuousClock.Instant
    ) -> SequencerAnswer? {
        guard let earlier = state.pending else { return nil }
        guard case .answer(let answer) = state.link.receive(until: deadline) else {
            return earlier.id == id ? .unknown(state.link.lateError) : .refused(state.link.lateError)
        }
        state.pending = nil
        let outcome = outcome(of: answer, to: earlier.id, state.link)
        guard earlier.id == id else { return nil }
        if case .accepted = outcome { return outcome }
        return earlier.expecting == expecting ? outcome : nil
    }

    private func outcome(of answer: PQAnswer, to id: Identifier, _ link: PostgresLink) -> SequencerAnswer {
        if let failure = answer.failure {
            let error = failure.error(at: options.description)
            return answer.isRefusal ? .refused(error) : .unknown(error)
        }
        if let warning = answer.warning { return .unknown(PostgresLink.unconfirmed(warning, at: options.description)) }
        guard let result = answer.result, let standbys = result.text(0, 1) else { return .unknown(lostError) }
        guard let number = result.number(0, 0) else { return .taken }
        do {
            try PostgresSettings.checkStandbys(standbys, atLeast: options.standbys)
            try checkStandbysAgain(link)
        } catch { return .unknown(Self.described(error, at: options)) }
        confirm(number, by: link)
        news.set()
        // The answer is not waited for: without the announcement, readers find the entry by themselves, only later.
        _ = link.send(.notify, Announcement(number: number, id: id).texts.map { Array($0.utf8) })
        return .accepted(number)
    }

    /// Checks, after a commit, that it did not end its wait because the setting that demands standbys was emptied.
    private func checkStandbysAgain(_ link: PostgresLink) throws {
        guard options.standbys > 0 else { return }
        guard link.send(.standbys, []), case .answer(let answer) = link.receive(until: .now + Self.answerTime),
            let standbys = answer.result?.text(0, 0)
        else { throw lostError }
        try PostgresSettings.checkStandbys(standbys, atLeast: options.standbys)
    }

    private var lostError: StrataError {
        StrataError(
            .unreachable, "The connection to the server was lost; it is opened again.",
            .init(path: options.description))
    }

    private static func described(_ error: any Error, at options: PostgresOptions) -> StrataError {
        guard let error = error as? StrataError else {
            return StrataError(
                .inputOutput, "The servers cannot be used.", .init(path: options.description), cause: error)
        }
        return error.located(path: options.description)
    }

    /// Returns a number as the binary protocol has it.
    private static func bytes(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    // MARK: Reading

    /// Notes that the standbys of the link's server have all entries up to a number.
    private func confirm(_ number: UInt64, by link: PostgresLink) {
        confirmed.withLock { confirmed in
            // IMPORTANT: a number that another server confirmed may be another entry here, after a fail-over.
            if confirmed.server != link.identity { confirmed = Confirmed(server: link.identity) }
            confirmed.number = max(confirmed.number, number)
        }
    }

    /// Returns the number up to which the standbys of the link's server are known to have all entries.
    private func confirmedNumber(by link: PostgresLink) -> UInt64 {
        confirmed.withLock { $0.server == link.identity ? $0.number : 0 }
    }

    package func entries(after number: UInt64, waitingMilliseconds milliseconds: Int) throws -> [[UInt8]] {
        let deadline = ContinuousClock.now + .milliseconds(milliseconds)
        return try following.withLock { following in
            let link = following.link
            do {
                while true {
                    try link.connect(until: max(deadline, .now + Self.answerTime))
                    news.clear()
                    // Asked first: a primary that is paused would not answer.
                    if hasMore(than: number, elsewhere: link) {
                        let identity = link.identity
                        link.move()
                        if link.identity != identity { continue }
                    }
                    let page = try page(after: number, link)
                    if !page.entries.isEmpty { return try safePart(of: page, after: number, &following) }
                    // Others can announce an entry that does not exist.
                    if ContinuousClock.now >= deadline { return [] }
                    guard waitForEntry(after: number, &following, until: deadline) else { return [] }
                }
            } catch let error as StrataError where error.code == .closed { return [] }
        }
    }

    /// Returns true if another server than the link's has confirmed entries after a number: it is the primary now.
    private func hasMore(than number: UInt64, elsewhere link: PostgresLink) -> Bool {
        confirmed.withLock { $0.server != nil && $0.server != link.identity && $0.number > number }
    }

    private func page(after number: UInt64, _ link: PostgresLink) throws -> Page {
        let rows = try link.ask(.page, [Self.bytes(min(number, UInt64(Int64.max)))], until: .now + Self.pageTime)
        var page = Page()
        for row in 0..<rows.rowCount {
            guard rows.number(row, 0) == number + UInt64(row) + 1, let entry = rows.bytes(row, 1),
                let id = rows.identifier(row, 2)
            else { break }
            page.entries.append(entry)
            page.ids.append(id)
        }
        guard page.entries.isEmpty else { return page }
        let floor = try floor(link)
        guard floor <= number else {
            throw StrataError(
                .outOfRange, "The sequencer was trimmed past the entry; copy the store from a process that has it.",
                .init(path: options.description, expected: "a number after \(floor)", found: "\(number + 1)"))
        }
        guard rows.rowCount == 0 else {
            throw StrataError(
                .brokenSequence, "The sequencer's table lacks an entry.",
                .init(
                    path: options.description, expected: "entry \(number + 1)",
                    found: rows.number(0, 0).map { "entry \($0)" }))
        }
        return page
    }

    /// Returns the entries that standbys have; waits until they have the first one.
    private func safePart(
        of page: Page, after number: UInt64, _ following: inout Following
    ) throws -> [[UInt8]] {
        let deadline = ContinuousClock.now + Self.announceTime
        let link = following.link
        while true {
            _ = following.takeAnnouncements(after: number)
            if let last = following.announcements.lastAnnounced(of: page.ids, after: number) { confirm(last, by: link) }
            let confirmed = options.standbys == 0 ? .max : confirmedNumber(by: link)
            if confirmed > number {
                return Array(page.entries.prefix(Int(min(confirmed - number, UInt64(page.entries.count)))))
            }
            news.clear()
            let event = link.waitForInput(or: [news], until: deadline)
            if event != .timeout, .now < deadline, link.isConnected(), !closing.isSet { continue }
            // The writer says nothing: it may be gone, or its wait for the standbys was canceled.
            let identity = link.identity
            _ = try end(link, until: .now + Self.answerTime)
            guard link.identity == identity else { return [] }
        }
    }

    /// Returns false if no entry is announced by `deadline`.
    private func waitForEntry(
        after number: UInt64, _ following: inout Following, until deadline: ContinuousClock.Instant
    ) -> Bool {
        let link = following.link
        while true {
            // Looked at before each wait: an announcement can come together with the answer to a question. That of an
            // own entry comes after it was read.
            if following.takeAnnouncements(after: number) || confirmedNumber(by: link) > number { return true }
            let event = link.waitForInput(or: [news], until: deadline)
            // Others may send notifications without end.
            if event == .timeout || ContinuousClock.now >= deadline || closing.isSet { return false }
            news.clear()
            guard link.isConnected(), !hasMore(than: number, elsewhere: link) else { return true }
        }
    }

    package func last() throws -> UInt64 {
        try asking.withLock { link in try end(link, until: .now + Self.answerTime) }
    }

    /// Returns the number of the last entry, once standbys have it. A primary that another one replaced cannot answer:
    /// its standbys no longer follow it.
    private func end(_ link: PostgresLink, until deadline: ContinuousClock.Instant) throws -> UInt64 {
        let answer = try link.ask(.confirm, until: deadline)
        guard let number = answer.number(0, 0), let standbys = answer.text(0, 1) else { throw lostError }
        do {
            try PostgresSettings.checkStandbys(standbys, atLeast: options.standbys)
            try checkStandbysAgain(link)
        } catch { throw Self.described(error, at: options) }
        confirm(number, by: link)
        return number
    }

    // MARK: Trimming

    private func floor(_ link: PostgresLink) throws -> UInt64 {
        guard let floor = try link.ask(.state, until: .now + Self.answerTime).number(0, 0) else { throw lostError }
        return floor
    }

    package func trim(through number: UInt64) throws -> UInt64 {
        try asking.withLock { link in
            let target = min(number, try end(link, until: .now + Self.answerTime))
            var floor = try floor(link)
            while floor < target {
                let next = min(target, floor + PostgresTables.trimmedEntries)
                _ = try link.ask(tables.trimming(through: next), until: .now + Self.workTime)
                floor = max(next, try self.floor(link))
            }
            return floor
        }
    }
}
