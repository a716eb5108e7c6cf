//! How objects are made, as tests write it: what the front end planned, in the words of what writes tests.

use touchstone_emit::{
    JavaAnswers, JavaCall, JavaForm, JavaHeap, JavaMaking, JavaMany, JavaNaming, JavaObject, JavaScenario, JavaSeries,
    JavaTested, JavaThrows, JavaWay,
};
use touchstone_front_java::{
    ANY_HEAP, Answers, Call, Form, Heap, Making, Many, Naming, Object, Scenario, Series, Standing, Way,
};

pub(crate) fn played(scenario: &Scenario) -> JavaScenario {
    JavaScenario {
        receiver: scenario.receiver.as_ref().map(making),
        tested: JavaTested {
            calls: scenario.tested.calls.iter().map(call).collect(),
            selector: scenario.tested.selector,
            naming: match scenario.tested.naming {
                Naming::Plain => JavaNaming::Plain,
                Naming::Overloaded => JavaNaming::Overloaded,
            },
        },
        result: scenario.result.clone(),
        heaps: scenario.heaps.iter().map(heap).collect(),
    }
}

fn heap(planned: &Heap) -> JavaHeap {
    JavaHeap { object: planned.object, selector: (planned.selector, ANY_HEAP), param: planned.param }
}

fn call(planned: &Call) -> JavaCall {
    JavaCall {
        text: planned.text.clone(),
        outer: planned.outer.as_ref().map(making),
        arguments: makings(&planned.arguments),
    }
}

fn makings(planned: &[Making]) -> Vec<JavaMaking> {
    planned.iter().map(making).collect()
}

fn making(planned: &Making) -> JavaMaking {
    match planned {
        Making::Given(at) => JavaMaking::Given(*at),
        Making::Object(planned) => JavaMaking::Object(Box::new(object(planned))),
    }
}

fn object(planned: &Object) -> JavaObject {
    let slots = planned.slots.iter().map(|slot| (slot.selector, slot.calls.iter().map(call).collect()));
    JavaObject {
        number: planned.number,
        name: planned.name.clone(),
        ty: planned.ty.clone(),
        selector: planned.selector,
        ways: planned.ways.iter().map(way).collect(),
        many: planned.many.as_ref().map(many),
        slots: slots.collect(),
    }
}

fn many(planned: &Many) -> JavaMany {
    let series = |series: &Series| JavaSeries {
        count: series.count,
        call: series.text.clone(),
        after: match series.when {
            Standing::First => 0,
            Standing::AfterOneCall => 1,
        },
    };
    let all = planned.all.iter().map(series).collect();
    JavaMany { selector: planned.selector, ways: planned.ways.clone(), all }
}

fn way(planned: &Way) -> JavaWay {
    match planned {
        Way::Null => JavaWay::Null,
        Way::Same(number) => JavaWay::Same(*number),
        Way::Given(at) => JavaWay::Given(*at),
        Way::Boxed(planned) => JavaWay::Boxed(call(planned)),
        Way::New(planned) | Way::Static(planned) => JavaWay::Call(call(planned)),
        Way::Constant { text, .. } => JavaWay::Constant(text.clone()),
        Way::Array { element, size, elements, .. } => {
            JavaWay::Array { element: element.clone(), size: *size, elements: makings(elements) }
        }
        Way::Filled { create, adder, form, size, elements, .. } => JavaWay::Filled {
            create: call(create),
            adder: adder.clone(),
            form: match form {
                Form::Listed => JavaForm::Listed,
                Form::Called => JavaForm::Called,
            },
            size: *size,
            elements: elements.iter().map(|call| makings(call)).collect(),
        },
        Way::Stub { create, methods, lambda, .. } => JavaWay::Stub {
            create: create.as_ref().map(call),
            methods: methods.iter().map(answers).collect(),
            lambda: *lambda,
        },
    }
}

fn answers(planned: &Answers) -> JavaAnswers {
    JavaAnswers {
        name: planned.name.clone(),
        params: planned.params.clone(),
        result: planned.result.clone(),
        answers: makings(&planned.answers),
        meddles: planned.meddles.as_ref().map(|meddles| (meddles.selector, meddles.object, meddles.text.clone())),
        throws: planned
            .throws
            .as_ref()
            .map(|throws| JavaThrows { selector: throws.selector, exceptions: throws.exceptions.clone() }),
    }
}
