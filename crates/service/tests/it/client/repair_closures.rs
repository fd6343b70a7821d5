//! Closures of the repair loop: borrowing and owning captures, on which threads.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use switchboard_design::Repair;
use switchboard_service::Error;
use switchboard_service::client::{ServiceCaller, call_with_repair_mut, get_prompt_with_repair_mut};

use crate::client::sessions::callers;

/// A source of arguments, called by reference.
struct Model {
    answers: Vec<Value>,
}

impl Model {
    async fn complete(&self, number: usize, prompt: &str) -> Result<Value, Error> {
        assert!(prompt.starts_with("\nOperation: "), "{prompt}");
        tokio::task::yield_now().await;
        Ok(self.answers[number].clone())
    }
}

fn model() -> Model {
    Model { answers: vec![json!({"times": "three"}), json!({"times": 3})] }
}

async fn everyone() -> Vec<ServiceCaller> {
    callers(|builder| builder).await
}

#[tokio::test]
async fn v11_a_closure_captures_a_vec_mutably() {
    for caller in everyone().await {
        let mut attempts = Vec::new();
        let result = caller
            .with_repair_mut(3, "shout_loud", json!({}), async |repair| {
                attempts.push(repair.prior);
                // The borrow of the capture lasts across an await.
                let attempts = &mut attempts;
                tokio::task::yield_now().await;
                attempts.push(None);
                Ok(if attempts.len() < 4 { json!({"times": 0}) } else { json!({"times": 2}) })
            })
            .await
            .unwrap();
        assert_eq!(result.text(), "2");
        assert_eq!(attempts, [Some(json!({})), None, Some(json!({"times": 0})), None]);
    }
}

#[tokio::test]
async fn v11_a_closure_borrows_its_captures_and_its_argument() {
    for caller in everyone().await {
        let (model, asked) = (model(), AtomicUsize::new(0));
        let sum: u32 = caller
            .with_repair_as(3, "shout_loud", json!({"times": 0}), async |repair| {
                model.complete(asked.fetch_add(1, Ordering::SeqCst), &repair.prompt()).await
            })
            .await
            .unwrap();
        assert_eq!((sum, asked.into_inner()), (3, 2));
        let mut asked = 0;
        let sum = caller
            .with_repair_mut_as::<u32>(3, "shout_loud", json!({"times": 0}), async |repair| {
                asked += 1;
                model.complete(asked - 1, &repair.prompt()).await
            })
            .await
            .unwrap();
        assert_eq!((sum, asked), (3, 2));
        assert_eq!(model.answers.len(), 2, "it was only borrowed");

        let mut prompts = Vec::new();
        let prompt = caller.prompt_with_repair_mut(1, "review", json!({}), async |repair| {
            prompts.push(repair.prompt());
            Ok(repair.example)
        });
        assert_eq!(prompt.await.unwrap().messages.len(), 1);
        assert_eq!(prompts.len(), 1);
    }
}

#[tokio::test]
async fn v11_a_closure_that_owns_its_captures_can_be_spawned() {
    for caller in everyone().await {
        let (model, mut number) = (model(), 0);
        let spawned = tokio::spawn(async move {
            let asks = async move |repair: Repair| {
                number += 1;
                model.complete(number - 1, &repair.prompt()).await
            };
            caller.with_repair_mut_as::<u32>(3, "shout_loud", json!({}), asks).await
        });
        assert_eq!(spawned.await.unwrap().unwrap(), 3);
    }
}

#[tokio::test]
async fn v11_any_session_accepts_the_same_closures() {
    for caller in everyone().await {
        let (model, mut prompts) = (model(), Vec::new());
        let result = call_with_repair_mut(caller.session(), 3, "shout_loud", json!({}), async |repair| {
            prompts.push(repair.prompt());
            model.complete(prompts.len() - 1, &prompts[prompts.len() - 1]).await
        });
        assert_eq!(result.await.unwrap().text(), "3");
        let prompt = get_prompt_with_repair_mut(caller.session(), 1, "review", json!({}), async |repair| {
            prompts.push(repair.prompt());
            Ok(repair.example)
        });
        assert_eq!(prompt.await.unwrap().messages.len(), 1);
        assert_eq!(prompts.len(), 3);
    }
}

/// A service-like trait whose methods return `Send` futures.
trait Agent {
    fn shout(&self) -> impl Future<Output = Result<(u32, usize), Error>> + Send;
}

struct Shouter {
    caller: ServiceCaller,
    model: Model,
}

impl Agent for Shouter {
    async fn shout(&self) -> Result<(u32, usize), Error> {
        let mut prompts = Vec::new();
        let sum = self
            .caller
            .with_repair_as(3, "shout_loud", json!({}), |repair| {
                prompts.push(repair.prompt());
                let (number, prompt) = (prompts.len() - 1, repair.prompt());
                async move { self.model.complete(number, &prompt).await }
            })
            .await?;
        let asks = async |repair: Repair| self.model.complete(1, &repair.prompt()).await;
        assert_eq!(self.caller.with_repair(3, "shout_loud", json!({}), asks).await?.text(), "3");
        Ok((sum, prompts.len()))
    }
}

#[tokio::test]
async fn v11_a_service_method_can_mutate_and_borrow_captures() {
    for caller in everyone().await {
        let agent = Shouter { caller, model: model() };
        assert_eq!(tokio::spawn(async move { agent.shout().await }).await.unwrap().unwrap(), (3, 2));
    }
}

#[tokio::test]
async fn v11_a_closure_that_is_not_send_runs_on_one_thread() {
    for caller in everyone().await {
        let notes = Rc::new(RefCell::new(Vec::new()));
        let kept = Rc::clone(&notes);
        let sum = caller
            .with_repair_mut_as::<u32>(1, "shout_loud", json!({}), async move |repair| {
                kept.borrow_mut().push(repair.prompt());
                Ok(repair.example)
            })
            .await
            .unwrap();
        assert_eq!((sum, notes.borrow().len()), (3, 1));
    }
}
