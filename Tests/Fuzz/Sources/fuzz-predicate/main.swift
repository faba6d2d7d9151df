import FuzzedInputs
import FuzzDriver

fuzz { _ = FuzzBodies.predicate($0) }
