import StrataModel
import StrataRules

extension Audit {
    /// Creates the note that a request was refused or changed nothing, if the rules decided that.
    init?(
        _ submission: Submission, answeredWith answer: Result<Answer, any Error>, at time: Int64
    ) {
        // The process that sent a forwarded request judges it again.
        guard case .request(let request) = submission.content else { return nil }
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
