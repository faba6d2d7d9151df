/// Routes the requests of a pipeline, of which it may send some to another process.
protocol PipelineFront: AnyObject, Sendable {
    /// Notes that a batch of this process was appended, or that another process's batch came first; nil if others may
    /// have appended.
    func noteBatch(isAppended: Bool?)

    /// Takes back the requests of a batch that another process's batch came before, as far as that process judges them
    /// now; returns the others.
    func takeBack(_ submissions: [Submission]) -> [Submission]
}
