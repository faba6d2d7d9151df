import CloudKit

/// A part of the modules' public API. Compiling it is most of the test.
protocol Section {
    func check() async throws
}

/// Names every public symbol of CloudKit and CoreLocation. Throws if one does not behave as expected.
public func checkSurface() async throws {
    let sections: [any Section] = [
        ContainerSurface(), try DatabaseSurface(), try PlainHandlerSurface(), OperationSurface(), QuestionSurface(),
        RecordSurface(),
        ObjectSurface(), ConformanceSurface(), try StoreSurface(), ConsoleSurface(), LocationSurface(),
        IdentitySurface(),
        SharingSurface(), ShareSurface(), SyncSurface(), SampleSurface(),
    ]
    for section in sections { try await section.check() }
}

/// An expectation that does not hold.
struct Unexpected: Error {
    let message: String

    init(_ message: String) { self.message = message }
}

/// Throws unless something holds.
func expect(_ holds: Bool, file: StaticString = #fileID, line: UInt = #line) throws {
    guard holds else { throw Unexpected("\(file):\(line): this does not hold") }
}

/// Reads a property, which must have exactly this type.
func gives<Root, Value>(_ root: Root, _ path: KeyPath<Root, Value>, _: Value.Type) { _ = root[keyPath: path] }

/// Reads and writes a property, which must have exactly this type.
func keeps<Root: AnyObject, Value>(_ root: Root, _ path: ReferenceWritableKeyPath<Root, Value>, _: Value.Type) {
    root[keyPath: path] = root[keyPath: path]
}

/// Apple's names for what the handlers of the database's methods get.
typealias Handler<Value> = @Sendable (Value?, Error?) -> Void
typealias ResultHandler<Value> = @Sendable (Result<Value, Error>) -> Void
typealias Results<ID: Hashable, Value> = [ID: Result<Value, Error>]
