import StrataModel

extension RecordsJudge: RequestJudge {
    func decide() throws -> Decision {
        if let decision = try earlyDecision() { return decision }
        let usage = usageChange
        let writer = RecordsWriter(self)
        do {
            var decision = try writer.decision()
            decision.usage = usage
            return decision
        } catch let error as StrataError where error.code == .tooLarge {
            throw Refusal(
                .limitExceeded, "The changes of the request do not fit in a commit: \(error)",
                rule: .commitLimit)
        }
    }
}
