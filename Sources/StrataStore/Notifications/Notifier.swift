import StrataLog
import StrataModel
import StrataQuery
import StrataRules
import StrataSystem
import StrataTree
import StrataViews

/// Finds the subscriptions that fire, on its own thread, and notifies the listening devices (docs/notifications.md).
///
/// The thread starts with the first device that listens, or with the first subscription that fires once. No other
/// device must be notified immediately: pushes that a device missed are found when it listens again.
// @unchecked: state that is neither constant nor locked is used only by the thread, or by `stop` after the thread ends.
final class Notifier: @unchecked Sendable {
    /// The maximum delay between a delivery and the mark that notes it.
    private static let markMilliseconds = 1_000
    /// The delay before a failed round is retried.
    private static let retryMilliseconds = 20
    private static let commitsPerRound = 1_024
    /// The time that the process whose entry made a subscription fire has to note that, before others do.
    private static let othersMicroseconds: Int64 = 2_000_000
    /// The maximum number of times that the retry delay doubles: from about the time of a disk access to about a
    /// second.
    private static let maximumDoublings = 6

    private struct State {
        var hasStarted = false
        var isStopping = false
        /// True if the last round failed; it is retried.
        var isFailing = false
        var arrivals: [Arrival] = []
        var departures: [PushQueue] = []
        /// The badges to set, and the outcomes that callers have not taken yet, by number.
        var badges: [(number: UInt64, actor: Actor, badge: UInt64)] = []
        var badgeOutcomes: [UInt64: Result<Void, any Error>] = [:]
        var lastBadge: UInt64 = 0
        /// Everything up to here has been examined, and the devices concerned were notified; the maximum if none
        /// listens.
        var seenThrough: UInt64 = 0
        /// True if there may be something new to note about a device.
        var hasNews = false
    }

    /// A device that starts to listen, and the last commit published at that time.
    private struct Arrival {
        let box: PushQueue
        let offset: UInt64
    }

    private let log: any EventLog
    private let reader: SnapshotBuilder
    private let queryRules: QueryRules
    private let pipeline: Pipeline
    private let router: RequestRouter
    private let publication: Publication
    private let worker = WorkerHandle()
    private let state = Monitor(State())
    /// The delivery marks of a store that is played back; nil for any other store, whose log has the marks.
    private let played = Lock<PlayedDeliveries?>(nil)

    // Used only by the thread.
    private var index = SubscriptionIndex()
    /// The mailboxes by the names of their users.
    private var pushQueues: [ExactName: [PushQueue]] = [:]
    /// Everything up to here has been examined.
    private var position: UInt64 = 0
    private var lastMarks = ContinuousClock.now
    private var isLoaded = false
    /// True if anything was examined since the position was last noted.
    private var hasLooked = false
    /// Subscriptions that fire once and have fired, but whose ends are not in the log yet, and the time since when
    /// another process is expected to note that; nil if this one does.
    private var unnoted: [(fired: Matching.Fired, since: Int64?)] = []
    /// Subscriptions that the log ended since it was examined last.
    private var ended: [SubscriptionIndex.Key] = []
    private var failuresInRow = 0

    init(_ pipeline: Pipeline, _ router: RequestRouter, _ queryRules: QueryRules) {
        self.pipeline = pipeline
        self.router = router
        self.queryRules = queryRules
        log = pipeline.log
        reader = pipeline.reader
        publication = pipeline.publication
    }

    // MARK: The rest of the engine

    /// Starts to listen for a device; pushes that it missed come first.
    func listen(_ actor: Actor) -> PushQueue {
        let box = PushQueue(
            actor, onNews: { [weak self] in self?.newsCame() }, onClose: { [weak self] in self?.leave($0) })
        let isStopping = state.withLock { state in
            if !state.isStopping { state.arrivals.append(Arrival(box: box, offset: publication.offset)) }
            return state.isStopping
        }
        if isStopping { box.close() } else { start() }
        return box
    }

    /// Sets the number on a device's badge, and returns once that is noted; a user whom no commit has named has none.
    ///
    /// - Throws: the error for which it could not be noted.
    func setBadge(_ badge: UInt64, of actor: Actor) throws {
        let number = state.withLock { state in
            state.lastBadge += 1
            state.badges.append((state.lastBadge, actor, badge))
            return state.lastBadge
        }
        start()
        let outcome = state.wait { state -> Result<Void, any Error>? in
            if let outcome = state.badgeOutcomes.removeValue(forKey: number) { return outcome }
            guard state.isStopping || state.isFailing,
                let place = state.badges.firstIndex(where: { $0.number == number })
            else { return nil }
            state.badges.remove(at: place)
            return .failure(StrataError(.closed, "The badge was not set, because notifications have stopped."))
        }
        try outcome.get()
    }

    /// Starts the thread: there may be a subscription that fires once, even if no device listens.
    func start() {
        let starts = state.withLock { state in
            state.seenThrough = 0
            guard !state.hasStarted, !state.isStopping else { return false }
            state.hasStarted = true
            return true
        }
        if starts {
            do { try worker.start(name: "strata-notify") { [self] in run() } } catch {
                endArrivals()
                state.withLock { state in
                    state.hasStarted = false
                    for change in state.badges { state.badgeOutcomes[change.number] = .failure(error) }
                    state.badges = []
                }
                state.notifyAll()
            }
        } else {
            publication.alarm()
        }
    }

    /// Notes how far devices have been notified, and closes all mailboxes. Called once, before the pipeline closes.
    func stop() {
        state.withLock { $0.isStopping = true }
        state.notifyAll()
        publication.close()
        worker.join()
        noteFired(waits: false)
        writeMarks()
        if hasLooked, index.onceCount > 0, unnoted.isEmpty {
            _ = try? write((position, 0), for: Actor(user: "", device: ""))
        }
        for box in pushQueues.values.joined() { box.close() }
        endArrivals()
        pushQueues = [:]
    }

    private func endArrivals() {
        let arrivals = state.withLock { state in
            defer { state.arrivals = [] }
            return state.arrivals
        }
        for arrival in arrivals { arrival.box.close() }
    }

    /// Returns true if the devices concerned by events up to `offset` have been notified.
    func hasSeen(through offset: UInt64) -> Bool {
        state.withLock { !$0.hasStarted || $0.arrivals.isEmpty && $0.seenThrough >= offset }
    }

    // MARK: Playback

    /// True if devices can listen although nothing is written.
    var isPlayed: Bool { played.withLock { $0 != nil } }

    /// Starts to notify devices of everything after a state, even if they were notified of it originally. Delivery
    /// marks are kept here. Called before any device listens.
    func beginPlaying(at state: Snapshot) { played.withLock { $0 = PlayedDeliveries(state) } }

    /// Returns once the devices concerned by events up to `offset` have been notified, or the thread fails or stops.
    func awaitSight(of offset: UInt64) {
        state.wait { state in
            let hasSeen = !state.hasStarted || state.arrivals.isEmpty && state.seenThrough >= offset
            return hasSeen || state.isStopping || state.isFailing ? () : nil
        }
    }

    /// Returns the offset up to which a device has been notified and its badge number; nil if nothing is noted about
    /// it.
    private func delivery(to actor: Actor, in trees: Snapshot) throws -> PlayedDeliveries.Mark? {
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
                // Damaged views may be being folded again; the commits since then are examined after that.
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

    /// Returns true if no device is to be notified of anything. The subscriptions are read again when that changes.
    private func rests() -> Bool {
        guard pushQueues.isEmpty, index.onceCount == 0, unnoted.isEmpty else { return false }
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

    /// Returns the milliseconds to wait if nothing is published; nil to wait indefinitely.
    private func pause(_ published: UInt64) -> Int? {
        if position < published { return Self.retryMilliseconds << failuresInRow }
        return unnoted.isEmpty && !state.withLock(\.hasNews) ? nil : Self.markMilliseconds
    }

    /// Does one round of work; returns the published offset that it followed to.
    private func round() throws -> UInt64 {
        let departures = state.withLock { state in
            defer { state.departures = [] }
            return state.departures
        }
        for box in departures { depart(box) }
        if !isLoaded { try load() }
        noteFired()
        let published = try follow()
        // The device counts as arriving until it is admitted.
        while let arrival = state.withLock({ $0.arrivals.first }) {
            try admit(arrival)
            state.withLock { _ = $0.arrivals.removeFirst() }
        }
        // A badge that cannot be noted must not keep others from being set.
        while let change = state.withLock({ $0.badges.isEmpty ? nil : $0.badges.removeFirst() }) {
            let outcome = Result { try note(change.badge, of: change.actor) }
            state.withLock { $0.badgeOutcomes[change.number] = outcome }
            state.notifyAll()
        }
        let seen = position
        state.withLock { $0.seenThrough = seen }
        if lastMarks.duration(to: .now) >= .milliseconds(Self.markMilliseconds) { writeMarks() }
        return published
    }

    /// Loads all subscriptions of the newest state. The thread then starts at the offset last noted for subscriptions
    /// that fire once, since no device was listening.
    private func load() throws {
        let snapshot = reader.make(pipeline.views.trees.snapshot())
        let noted = try snapshot.reading { trees in
            index = SubscriptionIndex()
            for database in 1..<max(1, try trees.nameCount(.database)) + 1 {
                try trees.forEachSubscription(of: database) { row in
                    try index.insert(SubscriptionIndex.Entry(row.event, row.version), in: trees)
                    return true
                }
            }
            return try trees.delivery(to: 0)?.through ?? 0
        }
        for one in unnoted { index.remove(one.fired.entry.key, savedBefore: one.fired.version) }
        isLoaded = true
        guard position == 0 else { return }
        let end = snapshot.offset
        position = max(log.floor.offset, min(end, max(noted, index.firstOnceOffset ?? end)))
    }

    /// Examines all commits that have been published since; returns the offset that was published last.
    ///
    /// The commits may not be durable yet, but fetches already return them.
    private func follow() throws -> UInt64 {
        while true {
            let published = publication.offset
            guard position < published, !publication.isClosed else { return published }
            if position < log.floor.offset {
                // Removed history can no longer be reported; the subscriptions are read again.
                (isLoaded, position) = (false, log.floor.offset)
                try load()
            }
            let snapshot = reader.make(pipeline.views.trees.snapshot())
            let last = min(published, snapshot.offset)
            var commitsLeft = Self.commitsPerRound
            try snapshot.reading { trees in
                let matching = Matching(snapshot, trees, queryRules)
                // Even if the rest cannot be read: the devices have been notified of these.
                defer { end(matching.fired) }
                var cursor = try log.read(from: position + 1)
                while commitsLeft > 0, let commit = try cursor.next(), commit.offset <= last {
                    commitsLeft -= 1
                    for happening in try SubscriptionTrigger.all(in: commit) {
                        hasLooked = true
                        try take(happening, matching, trees)
                    }
                    position = commit.offset
                }
            }
            // Offsets may have gaps.
            if commitsLeft > 0 { position = max(position, last) }
            for box in pushQueues.values.joined() { box.advance(to: position) }
        }
    }

    private func take(_ happening: SubscriptionTrigger, _ matching: Matching, _ trees: Snapshot) throws {
        if case .member(let event) = happening.subject {
            try index.take(event, at: happening.version, in: trees)
        }
        switch happening.subject {
        case .subscriptionSaved(let event):
            let entry = SubscriptionIndex.Entry(event, happening.version)
            try index.insert(entry, in: trees)
            if isNotedByOthers { forget(entry.key) }
        case .subscriptionDeleted(let event):
            let key = SubscriptionIndex.Key(database: event.database, user: event.user, id: ExactName(text: event.id))
            index.remove(key)
            if isNotedByOthers { forget(key) }
            ended.append(key)
        default:
            try matching.forEachPush(for: happening, in: index) { push, origin in
                for box in pushQueues[ExactName(text: push.user)] ?? [] where box.actor != origin { box.offer(push) }
            }
        }
    }

    // MARK: Notes in the log

    /// True if the log gets notes about subscriptions that do not come from here: a log that is played back has them
    /// later on, and a shared one has those of other processes.
    private var isNotedByOthers: Bool { isPlayed || log.isShared }

    private func forget(_ key: SubscriptionIndex.Key) {
        unnoted.removeAll { $0.fired.entry.key == key }
        ended.removeAll { $0 == key }
    }

    /// Ends subscriptions that fired and fire only once, even if that cannot be noted now.
    private func end(_ fired: [Matching.Fired]) {
        defer { ended = [] }
        for one in fired {
            index.remove(one.entry.key, savedBefore: one.version)
            if log.isShared, ended.contains(one.entry.key) { continue }
            unnoted.append((one, log.isOwn(one.version.offset) ? nil : pipeline.platform.time.nowMicroseconds()))
        }
        noteFired()
    }

    /// - Parameter waits: false to note at once, even if another process is expected to.
    private func noteFired(waits: Bool = true) {
        // The log that is played back has this note later on.
        if isPlayed { return }
        let now = pipeline.platform.time.nowMicroseconds()
        var left: [(fired: Matching.Fired, since: Int64?)] = []
        defer { unnoted = left }
        for (place, (one, since)) in unnoted.enumerated() {
            // A clock that was set back does not make it wait longer.
            if waits, let since, (0..<Self.othersMicroseconds).contains(now - since) {
                left.append((one, since))
                continue
            }
            let request = Request(
                database: DatabaseID(one.scope, owner: one.scope == .public ? "" : one.user),
                .notify(
                    NotifyRequest(user: one.user, fired: [.init(id: one.entry.subscription.id, by: one.version)])))
            // This is retried later; a subscription that has already ended is then left alone.
            do { _ = try router.submit(request, as: .service, OperationInfo()) } catch {
                left += unnoted[place...]
                return
            }
        }
    }

    private func writeMarks() {
        lastMarks = .now
        // A mark that cannot be written sets it again.
        state.withLock { $0.hasNews = false }
        for user in pushQueues.keys { writeMarks(of: user) }
    }

    private func writeMarks(of user: ExactName) {
        for box in pushQueues[user] ?? [] {
            guard let news = box.takeNews() else { continue }
            // Without the mark, the device would be notified twice.
            if (try? write(news, for: box.actor)) != true { box.noteIsLost() }
        }
    }

    private func note(_ badge: UInt64, of actor: Actor) throws {
        let user = ExactName(text: actor.user)
        let listening = (pushQueues[user] ?? []).filter { $0.actor == actor }
        for box in listening { box.setBadge(badge) }
        guard listening.isEmpty else { return writeMarks(of: user) }
        let snapshot = reader.make(pipeline.views.trees.snapshot())
        let through = try snapshot.reading { trees in
            try MissedPushes(
                of: actor, in: snapshot, trees, log, queryRules: queryRules,
                delivery: try delivery(to: actor, in: trees), arrivedAt: position
            ).start
        }
        _ = try write((through, badge), for: actor)
    }

    /// Returns false for a user who has written nothing yet, since nothing can be noted about that user.
    private func write(_ news: PlayedDeliveries.Mark, for actor: Actor) throws -> Bool {
        let isKept = played.withLock { played in
            played?.marks[actor] = news
            return played != nil
        }
        if isKept { return true }
        let snapshot = reader.make(pipeline.views.trees.snapshot())
        let isKnown = try snapshot.reading { try snapshot.names.ordinal(of: .user(actor.user), in: $0) != nil }
        guard isKnown || actor.user.isEmpty else { return false }
        let delivery = NotifyRequest.Delivery(device: actor.device, through: news.through, badge: news.badge)
        let request = Request(
            database: DatabaseID(.private, owner: actor.user),
            .notify(NotifyRequest(user: actor.user, deliveries: [delivery])))
        _ = try router.submit(request, as: .service, OperationInfo())
        return true
    }

    // MARK: Devices

    private func admit(_ arrival: Arrival) throws {
        let box = arrival.box
        // A device that listens twice is not notified again of earlier commits.
        writeMarks(of: ExactName(text: box.actor.user))
        let snapshot = reader.make(pipeline.views.trees.snapshot())
        do {
            try snapshot.reading { trees in
                let missed = try MissedPushes(
                    of: box.actor, in: snapshot, trees, log, queryRules: queryRules,
                    delivery: try delivery(to: box.actor, in: trees), arrivedAt: arrival.offset)
                box.begin(seenThrough: position, badge: missed.badge, isNews: missed.isFirst)
                try missed.forEach(through: position) { box.offer($0) }
            }
        } catch {
            box.close()
            throw error
        }
        pushQueues[ExactName(text: box.actor.user), default: []].append(box)
        // The mailbox may have been closed before it was added.
        if box.isClosed { depart(box) }
    }

    private func newsCame() {
        state.withLock { $0.hasNews = true }
        publication.alarm()
    }

    private func leave(_ box: PushQueue) {
        state.withLock { $0.departures.append(box) }
        publication.alarm()
    }

    private func depart(_ box: PushQueue) {
        if let news = box.takeNews() { _ = try? write(news, for: box.actor) }
        let user = ExactName(text: box.actor.user)
        pushQueues[user]?.removeAll { $0 === box }
        if pushQueues[user]?.isEmpty == true { pushQueues[user] = nil }
    }
}
