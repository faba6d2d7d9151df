/// Calls the closure: without Objective-C, nothing waits to be released.
public func autoreleasepool<Result, Failure: Error>(
    invoking body: () throws(Failure) -> Result
) throws(Failure) -> Result { try body() }
