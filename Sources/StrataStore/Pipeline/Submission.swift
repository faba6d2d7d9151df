import StrataModel
import StrataRules
import StrataSystem

/// A request or an audit that waits to be decided.
struct Submission: Sendable {
    // Indirect: a submission is copied often, and a request has many references.
    indirect enum Content: Sendable {
        case request(Request)
        /// A request that another process sent, which judges it again if nothing is written.
        case forwarded(Request)
        case audit(Audit)
    }

    let content: Content
    let actor: Actor
    let operation: OperationInfo
    let byteCount: Int
    let reply: Reply<Answer>
    /// An end of a shared log that was confirmed after the request came: a state that has it decides what is refused.
    var confirmedEnd: UInt64?
    /// The newest commit in the state on which the request was judged last, as far as its batch expects it.
    var judgedOn: UInt64?

    init(_ request: Request, as actor: Actor, _ operation: OperationInfo, reply: Reply<Answer>) {
        self.init(.request(request), as: actor, operation, byteCount: request.weight, reply: reply)
    }

    /// Creates the submission of a request that another process sent.
    init(forwarded request: Request, as actor: Actor, _ operation: OperationInfo, reply: Reply<Answer>) {
        self.init(.forwarded(request), as: actor, operation, byteCount: request.weight, reply: reply)
    }

    /// Creates the submission of an audit, for which no caller waits.
    init(_ audit: Audit) {
        self.init(
            .audit(audit), as: audit.actor, audit.operation, byteCount: audit.byteCount, reply: .function { _ in })
    }

    private init(
        _ content: Content, as actor: Actor, _ operation: OperationInfo, byteCount: Int, reply: Reply<Answer>
    ) {
        self.content = content
        self.actor = actor
        self.operation = operation
        self.byteCount = byteCount
        self.reply = reply
    }

    /// The request; nil for an audit.
    var request: Request? {
        switch content {
        case .request(let request), .forwarded(let request): request
        case .audit: nil
        }
    }

    var audit: Audit? { if case .audit(let audit) = content { audit } else { nil } }
    /// True for a request of another process.
    var isForwarded: Bool { if case .forwarded = content { true } else { false } }
}

/// Submits again what was turned away because too many were waiting.
typealias Admission = @Sendable () -> Void

extension Request {
    /// The approximate number of bytes that the request keeps in memory.
    fileprivate var weight: Int {
        guard case .modifyRecords(let body) = content else { return 1_024 }
        var bytes = 256 + body.deletes.count * 64
        // By index, because a loop over the saves would copy each.
        for index in body.saves.indices { bytes += 128 + body.saves[index].fieldWeight }
        return bytes
    }
}

extension ModifyRecordsRequest.Save {
    fileprivate var fieldWeight: Int {
        var bytes = 0
        for index in fields.indices { bytes += 32 + fields[index].chargedBytes }
        return bytes
    }
}

/// Waiting requests by quality of service: higher ones first, but no lane is skipped forever. Within a lane, one
/// request is taken from each user in turn (docs/architecture.md §7).
struct SubmissionQueue {
    /// After being skipped this many times, a lane is served first.
    private static let patience = 4

    /// A list that is taken from its front.
    private struct Line<Element> {
        private var elements: [Element] = []
        private var start = 0

        var first: Element? { start < elements.count ? elements[start] : nil }
        var isEmpty: Bool { start == elements.count }

        mutating func append(_ element: Element) { elements.append(element) }

        mutating func insertFirst(_ element: Element) {
            guard start > 0 else { return elements.insert(element, at: 0) }
            start -= 1
            elements[start] = element
        }

        mutating func removeFirst() -> Element {
            let first = elements[start]
            start += 1
            if start == elements.count {
                elements.removeAll(keepingCapacity: true)
                start = 0
            } else if start >= 1_024, start * 2 >= elements.count {
                elements.removeFirst(start)
                start = 0
            }
            return first
        }

        mutating func remove(where isRemoved: (Element) -> Bool) {
            elements = elements[start...].filter { !isRemoved($0) }
            start = 0
        }
    }

    private struct Lane {
        /// The waiting requests of each user who has any.
        private var waiting: [String: Line<Submission>] = [:]
        /// These users, in the order of their turns.
        private var users = Line<String>()
        var passedOver = 0

        var isEmpty: Bool { users.isEmpty }
        /// The request whose turn it is.
        var first: Submission? { users.first.flatMap { waiting[$0]?.first } }

        mutating func append(_ submission: Submission) {
            let user = submission.actor.user
            if waiting[user] == nil { users.append(user) }
            waiting[user, default: Line()].append(submission)
        }

        /// Puts a request before all others, and gives its user the next turn.
        mutating func insertFirst(_ submission: Submission) {
            let user = submission.actor.user
            if users.first != user {
                if waiting[user] != nil { users.remove { $0 == user } }
                users.insertFirst(user)
            }
            waiting[user, default: Line()].insertFirst(submission)
        }

        /// Takes the request whose turn it is. The lane must not be empty.
        mutating func removeFirst() -> Submission {
            let user = users.removeFirst()
            // Taken out, so that changing the line copies nothing.
            guard var line = waiting.removeValue(forKey: user) else {
                preconditionFailure("a user without requests has a turn")
            }
            let submission = line.removeFirst()
            if !line.isEmpty {
                waiting[user] = line
                users.append(user)
            }
            return submission
        }
    }

    /// The lanes from the highest quality to the lowest.
    private var lanes: [Lane] = Array(repeating: Lane(), count: 4)
    private(set) var byteCount = 0
    private(set) var count = 0
    /// The number of requests that a batch may have: fewer while other processes always append first.
    private(set) var batchCount = usualBatchCount
    /// The number of batches in a row that were lost to other processes.
    private var lossCount = 0

    private static let usualBatchCount = 1 << 20
    /// The number of losses in a row after which batches are halved.
    private static let endurance = 3

    var isEmpty: Bool { count == 0 }

    private static func lane(_ quality: EnvelopeHeader.QualityOfService) -> Int {
        switch quality {
        case .userInteractive: 0
        case .userInitiated: 1
        case .background: 3
        default: 2
        }
    }

    mutating func append(_ submission: Submission) {
        lanes[Self.lane(submission.operation.qualityOfService)].append(submission)
        byteCount += submission.byteCount
        count += 1
    }

    /// Puts back requests to be decided again, before all that came later.
    mutating func putBack(_ submissions: [Submission]) {
        for submission in submissions.reversed() {
            lanes[Self.lane(submission.operation.qualityOfService)].insertFirst(submission)
            byteCount += submission.byteCount
            count += 1
        }
    }

    mutating func takeAll() -> [Submission] {
        var taken: [Submission] = []
        while !isEmpty { taken += take(byteCount: .max) }
        return taken
    }

    /// Notes that another process appended before a batch of `count` requests, which takes less time if it is smaller.
    mutating func noteLoss(ofBatch count: Int) {
        lossCount += 1
        if lossCount >= Self.endurance { batchCount = max(1, count / 2) }
    }

    /// Notes that a batch was appended.
    mutating func noteSuccess() {
        lossCount = 0
        batchCount = min(2 * batchCount, Self.usualBatchCount)
    }

    /// Takes requests of at most `limit` bytes for a batch that has `present` already.
    ///
    /// - Parameter needsOne: true to take the first request whatever its size.
    mutating func take(byteCount limit: Int, present: Int = 0, needsOne: Bool = true) -> [Submission] {
        var taken: [Submission] = []
        var bytes = 0
        let room = batchCount - present
        func fits(_ next: Submission) -> Bool {
            taken.isEmpty && needsOne || bytes + next.byteCount <= limit && taken.count < room
        }
        let hungry = lanes.indices.filter { !lanes[$0].isEmpty && lanes[$0].passedOver >= Self.patience }
        var isFull = false
        for lane in hungry + lanes.indices.filter({ !hungry.contains($0) }) where !lanes[lane].isEmpty {
            let takenBefore = taken.count
            while !isFull, let next = lanes[lane].first {
                isFull = !fits(next)
                if isFull { break }
                taken.append(lanes[lane].removeFirst())
                bytes += next.byteCount
                lanes[lane].passedOver = 0
            }
            if !lanes[lane].isEmpty, taken.count == takenBefore, !taken.isEmpty { lanes[lane].passedOver += 1 }
        }
        byteCount -= bytes
        count -= taken.count
        return taken
    }
}
