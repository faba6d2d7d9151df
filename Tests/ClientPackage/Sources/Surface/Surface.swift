import CloudKit

/// A part of the modules' surface. That it compiles is most of the test.
protocol Section {
    func check() async throws
}

/// Names every public symbol of CloudKit and CoreLocation, and throws where one does not do what is said here.
public func checkSurface() async throws {
    let sections: [any Section] = [
        ContainerSurface(), try DatabaseSurface(), OperationSurface(), QuestionSurface(), RecordSurface(),
        ObjectSurface(), ConformanceSurface(), try StoreSurface(), ConsoleSurface(), LocationSurface(),
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

/// Takes a property, which must be of this very type, to be read.
func gives<Root, Value>(_ root: Root, _ path: KeyPath<Root, Value>, _: Value.Type) { _ = root[keyPath: path] }

/// As `gives`, and to be written.
func keeps<Root: AnyObject, Value>(_ root: Root, _ path: ReferenceWritableKeyPath<Root, Value>, _: Value.Type) {
    root[keyPath: path] = root[keyPath: path]
}

/// Apple's names for what the handlers of the database's methods get.
typealias Handler<Value> = @Sendable (Value?, Error?) -> Void
typealias ResultHandler<Value> = @Sendable (Result<Value, Error>) -> Void
typealias Results<ID: Hashable, Value> = [ID: Result<Value, Error>]
