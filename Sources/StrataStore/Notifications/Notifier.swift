import StrataLog
import StrataModel
import StrataQuery
import StrataRules
import StrataSystem
import StrataTree
import StrataViews

/// Finds the subscriptions that fire, on a thread of its own, and tells the devices that listen
/// (docs/notifications.md).
///
/// The thread starts with the first device that listens, or the first subscription that fires once: nobody else needs
/// to be told now, and what a device missed is found when it listens again.
// @unchecked: what is not a constant or behind a lock is touched by the thread alone, or by `stop` when it is over.
final class Notifier: @unchecked Sendable {
    /// Marks of deliveries are written this long after what they note, at most.
    private static let markMilliseconds = 1_000
    /// The delay before a failed look is repeated.
    private static let retryMilliseconds = 20
    private static let commitsPerRound = 1_024
    /// What cannot be read is tried again after as long as a disk may take, then after ever longer, up to a second.
    private static let maximumDoublings = 6

    private struct State {
        var hasStarted = false
        var isStopping = false
        /// Whether the last look failed; it is tried again.
        var isFailing = false
        var arrivals: [Arrival] = []
        var departures: [Mailbox] = []
        /// Everything up to here has been looked at, and who it concerns has been told; the end, where nobody is.
        var seenThrough: UInt64 = 0
    }

    /// A device that wants to listen, and the last commit of the state that it knew.
    private struct Arrival {
        let box: Mailbox
        let offset: UInt64
    }

    let log: any EventLog
    let reader: SnapshotMaker
    let queryRules: QueryRules
    private let pipeline: Pipeline
    private let publication: Publication
    private let worker = WorkerHandle()
    private let state = Monitor(State())
    /// What is noted of the devices of a store that is played again; nil of any other, where the log has it.
    private let played = Lock<PlayedDeliveries?>(nil)

    // Of the thread.
    var index = SubscriptionIndex()
    /// By the names of their users.
    private var boxes: [ExactName: [Mailbox]] = [:]
    /// Everything up to here has been looked at.
    private var position: UInt64 = 0
    private var lastMarks = ContinuousClock.now
    private var isLoaded = false
    /// Whether something was looked at since it was noted how far.
    private var hasLooked = false
    /// Subscriptions that fired and were to do so once, whose ends are not in the log yet.
    private var unnoted: [Matching.Fired] = []
    private var failuresInRow = 0

    init(_ pipeline: Pipeline, _ queryRules: QueryRules) {
        self.pipeline = pipeline
        self.queryRules = queryRules
        log = pipeline.log
        reader = pipeline.reader
        publication = pipeline.publication
    }

    // MARK: The rest of the engine

    /// A device listens from now on; what it missed comes first.
    func listen(_ actor: Actor) -> Mailbox {
        let box = Mailbox(actor) { [weak self] box in self?.leave(box) }
        let isStopping = state.withLock { state in
            if !state.isStopping { state.arrivals.append(Arrival(box: box, offset: publication.offset)) }
            return state.isStopping
        }
        if isStopping { box.close() } else { start() }
        return box
    }

    /// There may be a subscription that fires once, whether anybody listens or not.
    func start() {
        let starts = state.withLock { state in
            state.seenThrough = 0
            guard !state.hasStarted, !state.isStopping else { return false }
            state.hasStarted = true
            return true
        }
        if starts {
            do { try worker.start(name: "strata-notify") { [self] in run() } } catch { endArrivals() }
        } else {
            publication.alarm()
        }
    }

    /// Notes how far devices have been told, and lets nobody wait any longer. Called once, before the pipeline closes.
    func stop() {
        state.withLock { $0.isStopping = true }
        state.notifyAll()
        publication.close()
        worker.join()
        noteFired()
        writeMarks()
        if hasLooked, index.onceCount > 0, unnoted.isEmpty {
            _ = try? write((position, 0), for: Actor(user: "", device: ""))
        }
        for box in boxes.values.joined() { box.close() }
        endArrivals()
        boxes = [:]
    }

    private func endArrivals() {
        let arrivals = state.withLock { state in
            defer { state.arrivals = [] }
            return state.arrivals
        }
        for arrival in arrivals { arrival.box.close() }
    }

    /// Whether whoever an event up to `offset` concerns has been told.
    func hasSeen(through offset: UInt64) -> Bool {
        state.withLock { !$0.hasStarted || $0.arrivals.isEmpty && $0.seenThrough >= offset }
    }

    // MARK: Playing again

    /// Whether devices can listen although nothing is written.
    var isPlayed: Bool { played.withLock { $0 != nil } }

    /// Has devices be told of what comes behind a state, whatever they were told when it came first. What is noted of
    /// them is kept here; called before anybody listens.
    func beginPlaying(at state: Snapshot) { played.withLock { $0 = PlayedDeliveries(state) } }

    /// Returns once whoever an event up to `offset` concerns has been told, or that cannot be found out now.
    func awaitSight(of offset: UInt64) {
        state.wait { state in
            let hasSeen = !state.hasStarted || state.arrivals.isEmpty && state.seenThrough >= offset
            return hasSeen || state.isStopping || state.isFailing ? () : nil
        }
    }

    /// How far a device has been told and the number on its badge; nil if nothing is noted of it.
    func delivery(to actor: Actor, in trees: Snapshot) throws -> PlayedDeliveries.Mark? {
        if let played = played.withLock({ $0 }) { return try played.mark(of: actor) }
        return try trees.device(actor).flatMap { try trees.delivery(to: $0) }.map { ($0.through, $0.badge) }
    }

    // MARK: The thread

    private func run() {
        var alarms = 0
        while !publication.isClosed {
            var published: UInt64
            do {
                published = try round()
                failuresInRow = 0
                state.withLock { $0.isFailing = false }
            } catch {
                // What is damaged is folded again by whoever reads next; what went on meanwhile is looked at then.
                isLoaded = false
                endArrivals()
                state.withLock { $0.isFailing = true }
                failuresInRow = min(failuresInRow + 1, Self.maximumDoublings)
                published = .max
            }
            let rests = rests()
            state.notifyAll()
            if rests {
                publication.wait(past: .max, alarms: &alarms, milliseconds: nil)
            } else {
                publication.wait(past: published, alarms: &alarms, milliseconds: pause(published))
            }
        }
    }

    /// Whether nobody is to be told of anything. What is known of subscriptions is read again when that changes.
    private func rests() -> Bool {
        guard boxes.isEmpty, index.onceCount == 0, unnoted.isEmpty else { return false }
        let rests = state.withLock { state in
            if state.arrivals.isEmpty { state.seenThrough = .max }
            return state.arrivals.isEmpty
        }
        guard rests else { return false }
        index = SubscriptionIndex()
        isLoaded = false
        position = 0
        return true
    }

    /// How long to wait if nothing is published; nil for ever.
    private func pause(_ published: UInt64) -> Int? {
        if position < published { return Self.retryMilliseconds << failuresInRow }
        return boxes.isEmpty && unnoted.isEmpty ? nil : Self.markMilliseconds
    }

    /// - Returns: how much was published when it was looked at last.
    private func round() throws -> UInt64 {
        let departures = state.withLock { state in
            defer { state.departures = [] }
            return state.departures
        }
        for box in departures { depart(box) }
        if !isLoaded { try load() }
        noteFired()
        let published = try follow()
        // It counts as arriving until it is let in.
        while let arrival = state.withLock({ $0.arrivals.first }) {
            try admit(arrival)
            state.withLock { _ = $0.arrivals.removeFirst() }
        }
        let seen = position
        state.withLock { $0.seenThrough = seen }
        if lastMarks.duration(to: .now) >= .milliseconds(Self.markMilliseconds) { writeMarks() }
        return published
    }

    /// All subscriptions of the newest state. For those that fire once it is looked at what came since it was noted
    /// last; nobody else listened.
    private func load() throws {
        let snapshot = reader.make(pipeline.views.pages.snapshot())
        let noted = try snapshot.reading { trees in
            index = SubscriptionIndex()
            for database in 1..<max(1, try trees.nameCount(.database)) + 1 {
                try trees.forEachSubscription(of: database) { row in
                    index.insert(SubscriptionIndex.Entry(row.event, row.version))
                    return true
                }
            }
            return try trees.delivery(to: 0)?.through ?? 0
        }
        for one in unnoted { index.remove(one.entry.key, savedBefore: one.version) }
        isLoaded = true
        guard position == 0 else { return }
        let end = snapshot.offset
        position = max(log.floor.offset, min(end, max(noted, index.firstOnceOffset ?? end)))
    }

    /// Looks at what has been published since.
    ///
    /// The disk may not have all of it yet; a fetch gives it already.
    ///
    /// - Returns: the amount that was used when the budget ran out.
    private func follow() throws -> UInt64 {
        while true {
            let published = publication.offset
            guard position < published, !publication.isClosed else { return published }
            if position < log.floor.offset {
                // What was let go of cannot be told any more; what is subscribed to is read again.
                (isLoaded, position) = (false, log.floor.offset)
                try load()
            }
            let snapshot = reader.make(pipeline.views.pages.snapshot())
            let last = min(published, snapshot.offset)
            var commitsLeft = Self.commitsPerRound
            try snapshot.reading { trees in
                let matching = Matching(self, snapshot, trees)
                // Also where the rest cannot be read: what fired has been told.
                defer { end(matching.fired) }
                var cursor = try log.read(from: position + 1)
                while commitsLeft > 0, let commit = try cursor.next(), commit.offset <= last {
                    commitsLeft -= 1
                    for happening in try Happening.all(in: commit) {
                        hasLooked = true
                        try take(happening, matching)
                    }
                    position = commit.offset
                }
            }
            // Offsets may have gaps.
            if commitsLeft > 0 { position = max(position, last) }
            for box in boxes.values.joined() { box.advance(to: position) }
        }
    }

    private func take(_ happening: Happening, _ matching: Matching) throws {
        switch happening.subject {
        case .subscriptionSaved(let event):
            let entry = SubscriptionIndex.Entry(event, happening.version)
            index.insert(entry)
            if isPlayed { unnoted.removeAll { $0.entry.key == entry.key } }
        case .subscriptionDeleted(let event):
            let key = SubscriptionIndex.Key(database: event.database, user: event.user, id: ExactName(text: event.id))
            index.remove(key)
            if isPlayed { unnoted.removeAll { $0.entry.key == key } }
        default:
            try matching.forEachPush(for: happening, in: index) { push, origin in
                for box in boxes[ExactName(text: push.user)] ?? [] where box.actor != origin { box.offer(push) }
            }
        }
    }

    // MARK: What is noted in the log

    /// Subscriptions that fired and were to do so once do not again, whether that can be noted or not.
    private func end(_ fired: [Matching.Fired]) {
        for one in fired { index.remove(one.entry.key, savedBefore: one.version) }
        unnoted += fired
        noteFired()
    }

    private func noteFired() {
        // The log that is played has it further on.
        if isPlayed { return }
        while let one = unnoted.first {
            let request = Request(
                database: DatabaseID(one.scope, owner: one.scope == .public ? "" : one.user),
                .notify(
                    NotifyRequest(user: one.user, fired: [.init(id: one.entry.subscription.id, by: one.version)])))
            // It is tried again later; what is over already is left alone then.
            do { _ = try pipeline.submit(request, as: .service, OperationInfo()) } catch { return }
            unnoted.removeFirst()
        }
    }

    private func writeMarks() {
        lastMarks = .now
        for user in boxes.keys { writeMarks(of: user) }
    }

    private func writeMarks(of user: ExactName) {
        for box in boxes[user] ?? [] {
            guard let news = box.takeNews() else { continue }
            // Without it the device would be told twice.
            if (try? write(news, for: box.actor)) != true { box.noteIsLost() }
        }
    }

    /// False for a user who has written nothing yet, of whom nothing can be noted.
    private func write(_ news: PlayedDeliveries.Mark, for actor: Actor) throws -> Bool {
        let isKept = played.withLock { played in
            played?.marks[actor] = news
            return played != nil
        }
        if isKept { return true }
        let snapshot = reader.make(pipeline.views.pages.snapshot())
        let isKnown = try snapshot.reading { try snapshot.names.ordinal(of: .user(actor.user), in: $0) != nil }
        guard isKnown || actor.user.isEmpty else { return false }
        let delivery = NotifyRequest.Delivery(device: actor.device, through: news.through, badge: news.badge)
        let request = Request(
            database: DatabaseID(.private, owner: actor.user),
            .notify(NotifyRequest(user: actor.user, deliveries: [delivery])))
        _ = try pipeline.submit(request, as: .service, OperationInfo())
        return true
    }

    // MARK: Devices

    private func admit(_ arrival: Arrival) throws {
        let box = arrival.box
        // Who listens twice is not told twice of what came before.
        writeMarks(of: ExactName(text: box.actor.user))
        let snapshot = reader.make(pipeline.views.pages.snapshot())
        do {
            try snapshot.reading { trees in
                let missed = try MissedPushes(self, snapshot, trees, box.actor, arrivedAt: arrival.offset)
                box.begin(seenThrough: position, badge: missed.badge, isNews: missed.isFirst)
                try missed.forEach(through: position) { box.offer($0) }
            }
        } catch {
            box.close()
            throw error
        }
        boxes[ExactName(text: box.actor.user), default: []].append(box)
        // It may have left before there was anything to leave.
        if box.isClosed { depart(box) }
    }

    private func leave(_ box: Mailbox) {
        state.withLock { $0.departures.append(box) }
        publication.alarm()
    }

    private func depart(_ box: Mailbox) {
        if let news = box.takeNews() { _ = try? write(news, for: box.actor) }
        let user = ExactName(text: box.actor.user)
        boxes[user]?.removeAll { $0 === box }
        if boxes[user]?.isEmpty == true { boxes[user] = nil }
    }
}
