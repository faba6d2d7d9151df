import StrataModel
import StrataRules
import StrataSystem

/// A note for the log that no caller waits for: a lazy commit that is not written yet.
struct Audit: Sendable {
    let actor: Actor
    let operation: OperationInfo
    let kind: EnvelopeHeader.OperationKind
    /// The time of the noted event, in microseconds since 1970.
    let time: Int64
    var event: Event
    /// The newest commit in the state on which the noted request was judged; nil for other notes.
    var judgedOn: UInt64?

    /// The approximate number of bytes that it takes in memory and in the log.
    var byteCount: Int {
        256 + event.body.count + actor.user.utf8.count + actor.device.utf8.count + operation.groupName.utf8.count
    }
}

/// The bytes of noted requests that a store keeps of each user, so that refused requests cannot fill the disk.
struct KeptRequests {
    /// The maximum bytes of a user in an hour.
    static let maximumBytes = 8 << 20
    private static let hourMicroseconds: Int64 = 3_600_000_000

    /// The beginning of the hour.
    private var start: Int64 = 0
    private var bytes: [String: Int] = [:]

    /// Returns the audit, without its request if the user has no room for it in this hour.
    mutating func admit(_ audit: Audit) -> Audit {
        if audit.time < start || audit.time - start >= Self.hourMicroseconds {
            (start, bytes) = (audit.time, [:])
        }
        let total = bytes[audit.actor.user, default: 0] + audit.event.body.count
        guard total > Self.maximumBytes else {
            bytes[audit.actor.user] = total
            return audit
        }
        var lighter = audit
        lighter.event = (try? audit.event.withoutRequest()) ?? audit.event
        return lighter
    }
}

extension Event {
    /// Returns a note of a request that has only the request's length.
    fileprivate func withoutRequest() throws -> Event {
        switch kind {
        case .requestRefused:
            var refused = try RequestRefusedEvent(decoding: body)
            refused.dropRequest()
            return try refused.event()
        case .nothingToDelete:
            var nothing = try NothingToDeleteEvent(decoding: body)
            nothing.dropRequest()
            return try nothing.event()
        default: return self
        }
    }
}

/// The kinds of audits that are noted, and how long they may wait.
struct AuditPolicy: Sendable {
    /// The number of waiting bytes above which audits are written early.
    static let maximumWaitingBytes = 1 << 20

    var recordsRefusals = false
    var recordsFetches = false
    /// The maximum time that an audit waits for a batch to join.
    var delayMilliseconds = 1_000
}

/// The audits that wait for the next batch, for their time, or for the store to close.
struct AuditQueue {
    let policy: AuditPolicy
    private(set) var waiting: [Audit] = []
    private(set) var byteCount = 0
    private var since = ContinuousClock.now
    /// True if a thread wakes when they are due.
    var isTimed = false

    init(_ policy: AuditPolicy) { self.policy = policy }

    var isEmpty: Bool { waiting.isEmpty }
    var isFull: Bool { byteCount > AuditPolicy.maximumWaitingBytes }
    var isDue: Bool { !isEmpty && (isFull || millisecondsLeft <= 0) }

    private var millisecondsLeft: Int {
        let (seconds, attoseconds) = since.duration(to: .now).components
        return policy.delayMilliseconds - Int(seconds) * 1_000 - Int(attoseconds / 1_000_000_000_000_000)
    }

    /// The milliseconds until they may be due; nil if none waits. Due audits wait for a turn, and are checked again.
    var pause: Int? { isEmpty ? nil : max(5, millisecondsLeft + 1) }

    mutating func add(_ audits: [Audit]) {
        if isEmpty { since = .now }
        waiting += audits
        byteCount += audits.reduce(0) { $0 + $1.byteCount }
    }

    mutating func take() -> [Audit] {
        defer { (waiting, byteCount) = ([], 0) }
        return waiting
    }

    /// Removes the audits that contain requests.
    mutating func removeRequests() {
        add(take().filter { ![.requestRefused, .nothingToDelete].contains($0.event.kind) })
    }

    /// Puts back audits that did not reach the log, before newer ones. If the log keeps accepting none, the oldest are
    /// lost.
    mutating func putBack(_ audits: [Audit]) {
        let newer = take()
        add(audits + newer)
        let surplus = waiting.prefix { audit in
            guard isFull else { return false }
            byteCount -= audit.byteCount
            return true
        }
        waiting.removeFirst(surplus.count)
    }
}

extension Audit {
    /// Creates the note that a request was refused or changed nothing, if the rules decided that.
    init?(
        _ submission: Submission, answeredWith answer: Result<Answer, any Error>, at time: Int64
    ) {
        let request = submission.request
        let event: Event?
        switch answer {
        case .failure(let refusal as Refusal): event = Self.event(request, failing: refusal)
        case .failure: return nil
        case .success(let answer):
            guard answer.offset == nil else { return nil }
            event = Self.event(request, comingTo: answer.result)
        }
        guard let event else { return nil }
        self.init(
            actor: submission.actor, operation: submission.operation, kind: request.content.operationKind, time: time,
            event: event, judgedOn: submission.judgedOn)
    }

    static func event(_ request: Request, failing refusal: Refusal) -> Event? {
        // Failures of the log are not decisions of the rules.
        guard refusal.code != .serverResponseLost, refusal.code != .serviceUnavailable else { return nil }
        let message = refusal.message.cut(toBytes: RequestRefusedEvent.maximumMessageBytes)
        return try? RequestRefusedEvent(code: refusal.code.rawValue, message: message, request: try? request.encoded())
            .event()
    }

    static func event(_ request: Request, comingTo result: RequestResult) -> Event? {
        var culprits: [RequestRefusedEvent.Culprit] = []
        func add(_ list: RequestRefusedEvent.Culprit.List, _ index: Int, _ refusal: Refusal?) {
            guard let refusal else { return }
            culprits.append(
                .init(list, index: UInt64(index), code: refusal.code.rawValue, version: refusal.serverVersion))
        }
        for (index, save) in result.saves.enumerated() { add(.saves, index, save.refusal) }
        for (index, refusal) in result.deletes.enumerated() { add(.deletes, index, refusal) }
        if !culprits.isEmpty {
            return try? RequestRefusedEvent(
                code: Refusal.Code.partialFailure.rawValue, request: try? request.encoded(), culprits: culprits
            ).event()
        }
        guard case .modifyRecords = request.content, !result.deletes.isEmpty else { return nil }
        return try? NothingToDeleteEvent(count: UInt64(result.deletes.count), request: try? request.encoded()).event()
    }
}

extension Result<Version, Refusal> {
    fileprivate var refusal: Refusal? {
        if case .failure(let refusal) = self { refusal } else { nil }
    }
}

extension Request.Content {
    package var operationKind: EnvelopeHeader.OperationKind {
        switch self {
        case .modifyRecords: .modifyRecords
        case .modifyZones: .modifyZones
        case .modifySubscriptions: .modifySubscriptions
        case .declareSchema: .schema
        case .administer, .notify: .console
        case .joinShares: .acceptShares
        }
    }
}
